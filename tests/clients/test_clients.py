"""Typed clients are generated from openapi.json, type-checked, and call the running server.

The generators are those of `make test-assets`; without them the tests are skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api import RestServer, RestSettings, create_app
from tests.clients.build_assets import node_modules, python_generator
from tests.harness.faces.rest_face import CLOCK
from tests.harness.kinds import no_execute, node_of, pod_of
from tests.harness.lookups import DictSource
from tests.harness.transcripts import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.process

DOCUMENT = str(ROOT / "openapi.json")
SECONDS = 120.0  # for any one program; none takes a tenth of it

# An `ignore` that ignores nothing is an error here, so the checker sees that types are wrong.
PYTHON = """
import sys

from bailiff_client import Client
from bailiff_client.api.cluster import decide_pod_of_cluster
from bailiff_client.api.decisions import decide
from bailiff_client.models import (
    DecideRequest, DecideResponse, Node, NodeSpec, NodeTaintSubject, Pod, Problem, TaintInput,
)

client = Client(base_url=sys.argv[1])
taints: list[TaintInput | None] = [TaintInput(key="k", effect="NoExecute")]
body = DecideRequest(pod=Pod(), node=Node(spec=NodeSpec(taints=taints)))
told = decide.sync(client=client, body=body)
assert isinstance(told, DecideResponse)
(finding,) = told.decision.findings or []
(step,) = finding.trace or []
assert isinstance(step.subject, NodeTaintSubject)
key: str = step.subject.taint.key or ""
verdict: int = told.decision.verdict  # type: ignore[assignment]
refused = decide.sync(client=client, body=DecideRequest(pod=Pod()))
assert isinstance(refused, Problem)
live = decide_pod_of_cluster.sync("default", "web-0", client=client, explain=True)
assert isinstance(live, DecideResponse)
print(told.decision.verdict.value, key, refused.code.value, live.decision.verdict.value)
"""
CHECKER = """[mypy]
strict = true
implicit_reexport = true
[mypy-bailiff_client.*]
disallow_any_generics = false
[mypy-bailiff_client.client]
# The generator's own template is wrong about context managers.
ignore_errors = true
"""
TYPESCRIPT = """
import createClient from "openapi-fetch";
import type { components, paths } from "./bailiff.js";

const client = createClient<paths>({ baseUrl: process.argv[2] });
const taints = [{ key: "k", effect: "NoExecute" }];
const told = await client.POST("/v1/decisions", { body: { pod: {}, node: { spec: { taints } } } });
const decision: components["schemas"]["Decision"] = told.data!.decision;
const subject = decision.findings![0]!.trace![0]!.subject!;
if (subject.kind !== "nodeTaint") throw new Error(subject.kind);
const key: string | undefined = subject.taint.key;
// @ts-expect-error a verdict that there is not
if (decision.verdict === "MAYBE") throw new Error("never");
// @ts-expect-error a key is never null in an answer
const never: typeof subject.taint.key = null;
const refused = await client.POST("/v1/decisions", { body: { pod: {} } });
const params = { path: { namespace: "default", name: "web-0" }, query: { explain: true } };
const live = await client.GET("/v1/namespaces/{namespace}/pods/{name}/decision", { params });
console.log(decision.verdict, key, refused.error!.code, live.data!.decision.verdict);
"""
SAID = "EVICT_NOW k invalid_field EVICT_NOW"


async def run(*command: str, cwd: Path, path: str = "") -> str:
    """What a program prints; it must succeed, and say nothing of warnings."""
    environment = {**os.environ, "PATH": os.pathsep.join(filter(None, (path, os.environ["PATH"])))}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(SECONDS):
            output, _ = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 0, output.decode()
    return output.decode().strip()


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """A running server, and a cluster behind it."""
    source = DictSource.of(pod_of("web-0", "node-1"), node_of("node-1", no_execute("k")))
    settings = RestSettings(port=0)
    app = create_app(settings, CLOCK, CollectorRegistry(), Options(), source)
    server = RestServer(app, settings)
    port = await server.start()
    yield f"http://127.0.0.1:{port}"
    await server.stop(grace=1)


async def test_a_client_in_python(address: str, tmp_path: Path) -> None:
    generator = python_generator()
    if not generator.exists():
        pytest.skip("no openapi-python-client: run make test-assets")
    options = ("--meta", "none", "--output-path", "bailiff_client", "--fail-on-warning")
    generate = (str(generator), "generate", "--path", DOCUMENT, *options)
    # It formats what it writes by a Ruff that it finds beside it.
    await run(*generate, cwd=tmp_path, path=str(generator.parent))
    (tmp_path / "program.py").write_text(PYTHON)
    (tmp_path / "mypy.ini").write_text(CHECKER)
    # What clients need (httpx) is there beside the generator, and not in Bailiff's environment.
    python = str(generator.parent / "python")
    checker = (sys.executable, "-m", "mypy", "--python-executable", python)
    await run(*checker, "program.py", "bailiff_client", cwd=tmp_path)
    assert await run(python, "program.py", address, cwd=tmp_path) == SAID


async def test_a_client_in_typescript(address: str, tmp_path: Path) -> None:
    packages, node = node_modules(), shutil.which("node")
    if node is None or not packages.exists():
        pytest.skip("no Node, or no openapi-typescript: run make test-assets where Node is")
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "program.ts").write_text(TYPESCRIPT)
    generator = str(packages / "openapi-typescript" / "bin" / "cli.js")
    await run(node, generator, DOCUMENT, "-o", "bailiff.ts", cwd=tmp_path)
    compiler = str(packages / "typescript" / "bin" / "tsc")
    checks = ("--strict", "--target", "es2022", "--module", "nodenext", "--types", "node")
    await run(node, compiler, *checks, "program.ts", cwd=tmp_path)
    assert await run(node, "program.js", address, cwd=tmp_path) == SAID
