"""What a command loads: nobody waits for what only another command needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FACES = ("bailiff.rest", "bailiff.rest_api", "bailiff.grpc", "bailiff.grpc_api")
# The distributions that take a tenth of a second and more to import, and the parts of Bailiff.
HEAVY = {
    "aiohttp", "asyncio", "fastapi", "grpc", "kubernetes_asyncio", "prometheus_client",
    "msgspec", "starlette", "structlog", "uvicorn", "uvloop", "yaml",
    "bailiff.cluster", "bailiff.decisions", "bailiff.kinds", "bailiff.worker", "bailiff_demo",
    *FACES,
}  # fmt: skip
TELL = "import json, sys; print(json.dumps(sorted(sys.modules)))"
HELP = """
import contextlib, io, sys
from bailiff.cli import main
sys.argv = ["bailiff", {arguments}]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""


def modules_after(code: str) -> set[str]:
    """The modules that a fresh process has loaded after these lines."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{TELL}"], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("arguments", ['"--help"', '"worker", "--help"'])
def test_help_loads_nothing_that_would_run(arguments: str) -> None:
    loaded = modules_after(HELP.format(arguments=arguments))
    assert "bailiff.cli.processes" in loaded
    assert "rich" in loaded
    assert loaded & HEAVY == set()


def test_a_worker_loads_no_face_and_no_demo() -> None:
    loaded = modules_after("import bailiff.bootstrap.work")
    assert {"bailiff.worker", "aiohttp", "uvicorn"} <= loaded
    unneeded = {"fastapi", "grpc", "kubernetes_asyncio", "bailiff_demo", *FACES}
    assert loaded & unneeded == set()


def test_the_decision_api_loads_no_worker() -> None:
    loaded = modules_after("import bailiff.bootstrap.serve")
    assert {"fastapi", "grpc"} <= loaded
    assert loaded & {"bailiff.worker", "bailiff_demo", "kubernetes_asyncio"} == set()


def test_a_login_loads_no_classes_of_api_objects(tmp_path) -> None:
    """They are 700 and take longer to load than all else that a worker needs."""
    file = tmp_path / "config"
    context = {"name": "c", "context": {"cluster": "k", "user": "u"}}
    cluster = {"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}
    user = {"name": "u", "user": {"token": "t"}}
    whole = {"contexts": [context], "clusters": [cluster], "users": [user]}
    file.write_text(json.dumps(whole | {"current-context": "c"}))
    code = f"""
import asyncio, pathlib
from bailiff.cluster.kubeconfig import kubeconfig_reader
found = asyncio.run(kubeconfig_reader(pathlib.Path({str(file)!r}), None)())
assert found.authorization == "Bearer t"
"""
    assert "kubernetes_asyncio" not in modules_after(code)
