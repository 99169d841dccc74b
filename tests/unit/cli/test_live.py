"""`bailiff explain` and `preview` of a live cluster, the demo's, as a person on call types them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from typer.testing import CliRunner, Result

from bailiff.cli.app import app
from bailiff_demo import DemoCluster
from tests.harness.device_objects import allocation, claim, slice_of
from tests.harness.scripted_server import kubeconfig as write_kubeconfig
from tests.unit.demo.api import put

pytestmark = pytest.mark.demo

Run: TypeAlias = Callable[..., Coroutine[Any, Any, Result]]

NOW = ("--now", "2026-01-02T00:00:00Z")
TAINT = {"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
PATIENT = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
BUDGET = (
    "Warning: PodDisruptionBudget shop/web allows 1 disruption now, 2 of its pods would go at once"
)
RULE = """
kind: DeviceTaintRule
metadata: {name: recall}
spec:
  deviceSelector: {driver: d}
  taint: {key: recall, effect: None}
"""


def pod(name: str, node: str = "node-a", *tolerations: Any, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "labels": {"app": name.partition("-")[0]}}
    bound = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2025-12-31T00:00:00Z"}
    own = {"nodeName": node, "tolerations": list(tolerations), **spec}
    return {"metadata": metadata, "spec": own, "status": {"conditions": [bound]}}


def budget(name: str, allowed: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "generation": 1}
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed}
    spec = {"selector": {"matchLabels": {"app": name}}}
    return {"metadata": metadata, "spec": spec, "status": status}


def furnish(cluster: DemoCluster) -> None:
    """A shop on node-a, with budgets; on node-b a taint; on gpu-1 a pod with a device."""
    for name in ("node-a", "gpu-1"):
        put(cluster, "nodes", {"metadata": {"name": name}, "spec": {}})
    put(cluster, "nodes", {"metadata": {"name": "node-b"}, "spec": {"taints": [TAINT]}})
    for one in ("web-1", "web-2", "db-1"):
        put(cluster, "pods", pod(one))
    put(cluster, "pods", pod("patient", "node-a", PATIENT))
    put(cluster, "pods", pod("stoic", "node-a", {"operator": "Exists"}))
    put(cluster, "pods", pod("late", "node-b", PATIENT))
    put(cluster, "pods", pod("lost", "node-z"))
    put(cluster, "poddisruptionbudgets", budget("web", 1))
    put(cluster, "poddisruptionbudgets", budget("db", 1))
    named = [{"name": "gpu", "resourceClaimName": "gpu"}]
    train = put(cluster, "pods", pod("train", "gpu-1", resourceClaims=named))
    user = {"resource": "pods", "name": "train", "uid": train["metadata"]["uid"]}
    in_use = {"allocation": allocation("pool", driver="d"), "reservedFor": [user]}
    put(cluster, "resourceslices", slice_of("s", driver="d", pool={"name": "pool"}))
    owned = {"name": "gpu", "namespace": "shop"}
    put(cluster, "resourceclaims", claim("gpu") | {"metadata": owned, "status": in_use})


@pytest.fixture
async def kubeconfig(tmp_path: Path) -> AsyncIterator[Path]:
    """Of a furnished cluster; its current context is of the namespace shop."""
    async with DemoCluster(lively=False) as cluster:
        furnish(cluster)
        content = yaml.safe_load(cluster.kubeconfig())
        context = content["contexts"][0]["context"]
        content["contexts"].append({"name": "elsewhere", "context": dict(context)})
        context["namespace"] = "shop"
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(content))
        yield path


@pytest.fixture
def run(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command beside the cluster; its kubeconfig is the usual one."""
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))

    async def _run(*arguments: str, **more: Any) -> Result:
        return await asyncio.to_thread(CliRunner().invoke, app, arguments, **more)

    return _run


def rows(output: str) -> list[list[str]]:
    """The words of each line of a table, without its head; the last column has spaces."""
    return [line.split(maxsplit=5) for line in output.splitlines()[1:]]


NOT_LOOKED_AT = (
    "not looked at: policies of a worker and a pause, which may hold an eviction back; "
    "GET /v1/queue of the worker tells\n"
)


async def test_explain_a_pod_of_the_current_context(run: Run) -> None:
    told = await run("explain", "pod/late", *NOW)
    assert (told.exit_code, told.stderr) == (0, NOT_LOOKED_AT)
    assert told.stdout.splitlines()[0] == "Pod shop/late on node node-b: evict now"
    assert "    deadline 2026-01-01T00:01:00Z" in told.stdout.splitlines()


async def test_explain_a_nodes_pods_in_a_table(run: Run) -> None:
    told = await run("explain", "node/node-a", *NOW)
    assert (told.exit_code, told.stderr) == (0, "")
    assert [row[:3] for row in rows(told.stdout)] == [
        ["shop", name, "KEEP"] for name in ("db-1", "patient", "stoic", "web-1", "web-2")
    ]


REFUSED = {
    ("pod/late", "--context", "nowhere"): (3, "contexts has none of the name 'nowhere'"),
    ("node/none",): (1, "Node none does not exist"),
    ("node/node-a", "-n", "shop"): (2, "--namespace is of a pod, a node has none"),
    ("node/node-a", "--namespace", "shop"): (2, "--namespace is of a pod, a node has none"),
    ("pod/late", "--kubeconfig", "/none"): (3, "there is no such file"),
    ("pod/late", "--in-cluster"): (3, "namespace is not known"),
    ("pod/late", "--in-cluster", "-n", "x"): (3, "no service account to use"),
    ("pod/late", "--in-cluster", "--context", "x"): (2, "exclude each other"),
    ("pod/late", "--bound-at", "2026-01-01T00:00:00Z"): (2, "--bound-at"),
}


async def test_what_is_not_there_is_told_in_one_line(run: Run) -> None:
    for arguments, (code, said) in REFUSED.items():
        told = await run("explain", *arguments)
        assert (told.exit_code, told.stdout) == (code, ""), arguments
        assert said in told.stderr
        assert told.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "namespace", "name"),
    [
        (("pod/none",), "shop", "none"),
        (("pod/late", "-n", "demo"), "demo", "late"),
        (("pod/late", "--context", "elsewhere"), "default", "late"),
    ],
)
async def test_of_a_pod_that_is_not_there_any_more_it_is_told_where_to_look(
    run: Run, arguments: tuple[str, ...], namespace: str, name: str
) -> None:
    told = await run("explain", *arguments)
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr == (
        f"bailiff: Pod {namespace}/{name} does not exist\n"
        f"if it has gone: kubectl -n {namespace} get events --field-selector "
        f"involvedObject.name={name}; later than an hour: docs/operate/audit.md\n"
    )


async def test_a_node_with_more_pods_than_an_answer_may_hold(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bailiff.decisions.registry.MAX_PODS", 4)
    told = await run("explain", "node/node-a")
    assert (told.exit_code, told.stdout) == (1, "")
    assert told.stderr == (
        "bailiff: the cluster has more than one answer may hold: "
        "$.pods: at most 4 are allowed, there are 5\n"
    )


@pytest.mark.parametrize(("name", "reason"), [("lost", "NodeGone"), ("train", "NoTaint")])
async def test_explain_for_programs(run: Run, name: str, reason: str) -> None:
    told = await run("explain", f"pod/{name}", "-o", "json")
    decision = json.loads(told.stdout)["decision"]
    assert (decision["verdict"], decision["reason"]) == ("KEEP", reason)


async def test_preview_a_taint_with_the_budgets_that_it_would_violate(run: Run) -> None:
    told = await run("preview", "taint", "node-a", "k=v:NoExecute", *NOW)
    assert told.exit_code == 0, told.output
    assert told.stdout.splitlines()[0].split() == [
        "NAMESPACE", "NAME", "VERDICT", "WHEN", "BUDGET", "WHY",
    ]  # fmt: skip
    assert [line.split()[1:4] for line in told.stdout.splitlines()[1:]] == [
        ["db-1", "EVICT_NOW", "now"],
        ["patient", "EVICT_AT", "2026-01-02T00:01:00Z"],
        ["web-1", "EVICT_NOW", "now"],
        ["web-2", "EVICT_NOW", "now"],
    ]
    violated = [line for line in told.stdout.splitlines() if "web (2 of 1 allowed)" in line]
    assert len(violated) == 2
    assert told.stderr.splitlines() == [
        BUDGET,
        "the answer changes for 4 of 5 pods on the node: 3 would go now, 1 later, 0 stay after all",
        NOT_LOOKED_AT.rstrip(),
    ]


async def test_preview_taking_a_taint_away(run: Run) -> None:
    told = await run("preview", "taint", "node-b", "k:NoExecute-", *NOW, "-o", "wide")
    (row,) = told.stdout.splitlines()[1:]
    assert row.split()[:8] == [
        "shop", "late", "KEEP", "<none>", "<none>", "node-b", "EVICT_NOW", "now",
    ]  # fmt: skip


async def test_preview_of_a_taint_for_programs(run: Run) -> None:
    told = await run("preview", "taint", "node-a", "k:NoExecute", *NOW, "-o", "json")
    answer = json.loads(told.stdout)
    assert answer["summary"] == {"evictNow": 3, "evictAt": 1, "keep": 0}
    assert answer["budgets"] == [{"namespace": "shop", "name": "web", "going": 2, "allowed": 1}]


async def test_preview_a_rule(run: Run) -> None:
    told = await run("preview", "rule", "-", *NOW, input=RULE)
    assert told.exit_code == 0, told.output
    (row,) = rows(told.stdout)
    assert row[:4] == ["shop", "train", "EVICT_NOW", "now"]
    assert row[-1].endswith("(DeviceTaintRule /recall:)")
    assert told.stderr == (
        "2 published and 1 allocated devices are selected; 1 pod would go, 1 of them now\n"
        + NOT_LOOKED_AT
    )


async def test_a_cluster_that_does_not_answer_is_told_as_such(run: Run, tmp_path: Path) -> None:
    nobody = write_kubeconfig(tmp_path, port=1)
    for command in (("explain", "pod/late"), ("preview", "taint", "node-a", "k:NoExecute")):
        told = await run(*command, "--kubeconfig", str(nobody))
        assert told.exit_code == 3, told.output
        assert "could not be read" in told.stderr
