"""The client's wheel does without the server: built, installed where nothing else is, and used."""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from bailiff.v1 import eviction_decision_service_pb2_grpc as generated
from tests.harness import client_wheel
from tests.harness.ways import serving

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "service" / "bailiff"
OWN = tomllib.loads((ROOT / "service" / "pyproject.toml").read_text())["project"]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text())

PROGRAM = """
import importlib.util, sys
from bailiff.client import GrpcClient, RestClient, InvalidQuestionError
from bailiff.client.messages import DecideRequest, Node, Pod, VERDICT_EVICT_NOW

rest, grpc = sys.argv[1:]
node = {"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "a", "effect": "NoExecute"}]}}
for client in (RestClient(f"http://127.0.0.1:{rest}"), GrpcClient(f"127.0.0.1:{grpc}")):
    with client:
        answer = client.decide({"pod": {"metadata": {"name": "web"}}, "node": node})
        assert answer.decision.verdict == VERDICT_EVICT_NOW
        try:
            client.decide(DecideRequest(pod=Pod(), systems=["node-taints"]))
        except InvalidQuestionError as error:
            print(error.code, error.fields[0].path)
servers = "msgspec", "bailiff.decisions", "fastapi"
print(*[name for name in servers if importlib.util.find_spec(name)])
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return client_wheel.installed(client_wheel.built(folder), folder / "venv")


async def test_the_wheel_alone_asks_a_server(python: Path) -> None:
    async with serving() as ports:
        process = await asyncio.create_subprocess_exec(
            *(python, "-I", "-W", "error", "-c", PROGRAM, str(ports.rest), str(ports.grpc)),
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 0
    assert output.decode().splitlines() == ["invalid_field $.node"] * 2 + [""]


def test_the_servers_wheel_is_without_the_client(tmp_path: Path) -> None:
    """It would lack what the client needs."""
    wheel = client_wheel.built(tmp_path, ROOT, "bailiff-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "bailiff/v1/decision_pb2.py" in names
    assert not [name for name in names if name.startswith("bailiff/client/")]


def test_the_wheel_is_the_same_each_time(tmp_path: Path) -> None:
    wheels = [client_wheel.built(tmp_path / name) for name in ("first", "second")]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()


def test_both_distributions_take_the_same_versions() -> None:
    server = WHOLE["project"]["dependencies"]
    theirs = {Requirement(line).name: Requirement(line).specifier for line in server}
    for line in OWN["dependencies"]:
        mine = Requirement(line)
        for one in theirs.get(mine.name, mine.specifier):
            if one.operator == "<":
                assert one in set(mine.specifier)


def test_grpcio_and_protobuf_are_never_older_than_what_generated_the_messages() -> None:
    bounds = {
        Requirement(line).name: next(
            Version(one.version) for one in Requirement(line).specifier if one.operator == ">="
        )
        for line in OWN["dependencies"]
    }
    assert bounds["grpcio"] >= Version(generated.GRPC_GENERATED_VERSION)
    source = (PACKAGE / "v1" / "decision_pb2.py").read_text()
    told = re.search(r"Protobuf Python Version: ([\d.]+)", source)
    assert told is not None
    assert bounds["protobuf"] >= Version(told[1])


def test_the_client_imports_nothing_of_ours_but_itself_and_the_messages() -> None:
    """The contract of import-linter names modules; this holds for one that is new, too."""
    imported = {
        node.module
        for path in (PACKAGE / "client").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module
    }
    ours = {name for name in imported if name.split(".")[0] == "bailiff" and name != "bailiff"}
    assert {name.split(".")[1] for name in ours} == {"client", "v1"}


def test_the_servers_environment_is_told_from_the_clients() -> None:
    """In a checkout the server's environment has the client's files, and not what they need."""
    program = "import sys; sys.modules['httpx2'] = None; import bailiff.client.messages"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    (last,) = done.stderr.splitlines()[-1:]
    assert "install bailiff-client into an environment of its own" in last
