"""What the chart's admission policies forbid the worker, each tried on the real API server.

Its account may do everything here, as RBAC goes, so that nothing but the policies refuses: without
them each of these writes is taken.
"""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from bailiff.cluster import (
    AdmissionDeniedError,
    PatchType,
    Request,
    connect,
)
from bailiff.decisions.device_taints.findings import TERMS as DEVICE_TERMS
from bailiff.decisions.node_taints.findings import TERMS as NODE_TERMS
from bailiff.worker.systems.node_taints.annotator import ANNOTATION
from tests.harness.api import NODES, PODS
from tests.harness.device_objects import RULES, rule
from tests.harness.helm import loss_writes, pressure_writes
from tests.harness.helm.accounts import log_in, may_do_everything
from tests.harness.helm.admission import POLICIES, admission_in_force
from tests.harness.helm.chart import render, the
from tests.harness.helm.scene import READY, Scene
from tests.harness.helm.writes import ALLOWED, FORBIDDEN, OTHER, PROGRESS
from tests.harness.kube.programs import Program
from tests.harness.leases import make_leases
from tests.harness.objects import KEY, taint
from tests.harness.working import until

pytestmark = pytest.mark.helm
on_a_server = pytest.mark.kube_apiserver


async def scene_of(bench) -> Scene:
    cluster = bench.cluster
    node = await bench.node(taint(KEY))
    marks = {"labels": {"zone": "a"}, "annotations": {"example.com/a": "x", ANNOTATION: "old"}}
    await cluster.patch(NODES, node, "", {"metadata": marks})
    pod, going = [await running(bench, name, node) for name in ("some", "going")]
    await cluster.delete(PODS, "going", bench.namespace)
    await make_leases(cluster, bench.namespace)
    name = f"rule-{bench.namespace}"
    await cluster.create(RULES, rule(name, "None"), "")
    await cluster.patch(
        RULES,
        name,
        "",
        {"status": {"conditions": [PROGRESS, OTHER]}},
        patch_type=PatchType.MERGE,
        subresource="status",
    )
    specless = await bench.bare_node(labels={"zone": "a"})
    return Scene(bench.namespace, node, specless, pod, going, name, "bailiff-worker-0-of-1")


async def running(bench, name, node):
    pod = await bench.pod(name, node=node, labels={"app": "web"})
    start = {"startTime": "2026-01-01T00:00:00Z", "podIP": "10.1.1.1"}
    return await bench.set_status(pod, phase="Running", conditions=[READY], **start)


async def refusals(own, scene, asked) -> dict[str, str]:
    """What the server says of each that it refuses."""
    found = {}
    for name, ask in asked.items():
        try:
            await own.send(ask(scene))
        except AdmissionDeniedError as error:
            found[name] = str(error)
    return found


CASES = [
    pytest.param({}, FORBIDDEN, ALLOWED, id="as it is"),
    pytest.param(
        {"worker": pressure_writes.PRESSURE},
        pressure_writes.FORBIDDEN,
        pressure_writes.ALLOWED,
        id="pressure",
    ),
    pytest.param(
        {"worker": loss_writes.LOSS}, loss_writes.FORBIDDEN, loss_writes.ALLOWED, id="loss"
    ),
]


@on_a_server
@pytest.mark.parametrize(("values", "forbidden", "allowed"), CASES)
async def test_each_write_is_refused_by_its_clause_and_by_nothing_else(
    kube_apiserver, bench, values, forbidden, allowed
):
    path = await log_in(kube_apiserver, "worker", bench.namespace, values=values)
    await may_do_everything(bench.cluster, bench.namespace, "bailiff-worker")
    scene = await scene_of(bench)
    asked = {name: ask for name, (ask, _) in forbidden.items()}
    async with await connect(path) as own:
        try:
            assert await refusals(own, scene, asked | allowed) == {}
            async with admission_in_force(kube_apiserver, path, bench.namespace, values):
                assert await refusals(own, scene, allowed) == {}
                said = await refusals(own, scene, asked)
        finally:
            await bench.cluster.delete(RULES, scene.rule, "")
    wanted = {name: clause for name, (_, clause) in forbidden.items()}
    assert {
        name: said.get(name) for name, clause in wanted.items() if clause not in said.get(name, "")
    } == {}


def clauses(suffix, **worker):
    """All expressions of one of the policies."""
    objects = render(values={"worker": worker})
    policy = the(objects, "ValidatingAdmissionPolicy", "worker", suffix)
    return " ".join(rule["expression"] for rule in policy["spec"]["validations"])


def reason_of(terms):
    assert terms.condition is not None
    return repr(terms.condition.reason)


@pytest.mark.parametrize("devices", [True, False], ids=["devices", "nodes alone"])
def test_each_system_that_is_on_brings_its_clause_and_no_other_does(devices):
    switch = {"deviceTaintEviction": {"enabled": devices}}
    pods, events = clauses("-pods", **switch), clauses("-events", **switch)
    assert reason_of(NODE_TERMS) in pods
    assert repr(NODE_TERMS.controller) in events
    assert (reason_of(DEVICE_TERMS) in pods) is devices
    assert (repr(DEVICE_TERMS.controller) in events) is devices
    names = {o["metadata"]["name"] for o in render(values={"worker": switch})}
    assert ("bailiff-bailiff-worker-rules" in names) is devices


def test_every_policy_has_its_binding_and_fails_closed():
    objects = render("everything")
    policies = [o for o in objects if o["kind"] == "ValidatingAdmissionPolicy"]
    bindings = [o for o in objects if o["kind"] == "ValidatingAdmissionPolicyBinding"]
    assert len(policies) == 10
    assert {o["spec"]["failurePolicy"] for o in policies} == {"Fail"}
    names = {o["metadata"]["name"] for o in policies}
    assert {o["spec"]["policyName"] for o in bindings} == names
    assert all(o["spec"]["validationActions"] == ["Deny", "Audit"] for o in bindings)


@on_a_server
async def test_a_cluster_s_own_check_of_types_has_nothing_to_say(kube_apiserver, bench, tmp_path):
    """kube-controller-manager writes what it thinks of each expression into the policy's status."""
    flags = [
        f"--kubeconfig={kube_apiserver.kubeconfig}",
        "--controllers=validatingadmissionpolicy-status-controller",
        *("--leader-elect=false", "--secure-port=0"),
    ]
    made = policies_of(bench.namespace)
    program = Program("kube-controller-manager", flags, tmp_path)
    program.start()
    try:
        for policy in made:
            await bench.cluster.create(POLICIES, policy)
        for policy in made:
            name = policy["metadata"]["name"]
            await until(partial(checked, bench.cluster, name))
            found = (await bench.cluster.get(POLICIES, name))["status"]
            warnings = found.get("typeChecking", {}).get("expressionWarnings", [])
            assert [(one["fieldRef"], one["warning"]) for one in warnings] == [], name
    finally:
        await asyncio.to_thread(program.stop)
        for policy in made:
            path = POLICIES.path("", policy["metadata"]["name"])
            await bench.cluster.send(Request("DELETE", path))


def policies_of(namespace):
    objects = render("everything", namespace=namespace)
    return [o for o in objects if o["kind"] == "ValidatingAdmissionPolicy"]


async def checked(cluster, name):
    found = await cluster.get(POLICIES, name)
    return "observedGeneration" in found.get("status", {})
