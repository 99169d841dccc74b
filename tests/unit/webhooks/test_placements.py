"""`validate/pods`, `validate/bindings`: whom a node's kubelet would not start, and who leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from bailiff.kinds import (
    Annotations,
    Node,
    NodeCondition,
    NodeStatus,
    ObjectMeta,
    Pod,
    ResourceClaim,
)
from bailiff.kinds.binding import Binding, BindingTarget
from bailiff.lookup import FailedError, ForbiddenError, NotServedError
from tests.harness.changes import ShownSource
from tests.harness.clocks import START, LoopClock
from tests.harness.device_kinds import claim, on, rule, slice_of, using
from tests.harness.hooks import Hooked
from tests.harness.kinds import no_execute, node_of, pod_of, tolerating

# However busy the machine, an answer is in time.
pytestmark = pytest.mark.looptime

FULL = replace(
    node_of("full"),
    status=NodeStatus(conditions=(NodeCondition(type="MemoryPressure", status="True"),)),
)
HOUR_AGO = START - timedelta(hours=1)
TAINTED = node_of("tainted", no_execute(time_added=HOUR_AGO))
WHY = "the kubelet of node full would not start the pod: The node had condition: [MemoryPressure]."


def binding(node: str, pod: str = "p", uid: str = "") -> Binding:
    return Binding(
        metadata=ObjectMeta(name=pod, namespace="default", uid=uid),
        target=BindingTarget(kind="Node", name=node),
    )


async def bind(hooked: Hooked, given: Binding, **fields: Any) -> Any:
    resource = {"group": "", "version": "v1", "resource": "pods"}
    asked = {"resource": resource, "subResource": "binding", "namespace": "default"}
    return await hooked.change("bindings", None, given, **asked | fields)


async def create(hooked: Hooked, pod: Pod, old: Pod | None = None, **fields: Any) -> Any:
    return await hooked.change("pods", old, pod, **{"namespace": "default"} | fields)


async def both(node: str, pod: Pod, *objects: Any) -> list[Any]:
    """What is said of a pod that is created on a node, and of one that is bound to it."""
    placed = replace(pod, spec=replace(pod.spec, node_name=node))
    said = [
        await create(Hooked(*objects), placed),
        await bind(Hooked(pod, *objects), binding(node)),
    ]
    assert [one.pop("uid") for one in said]
    return said


async def test_a_pod_that_the_kubelet_would_not_start_is_refused() -> None:
    for said in await both("full", pod_of("p"), FULL):
        assert not said["allowed"]
        assert (said["status"]["code"], said["status"]["reason"]) == (403, "Forbidden")
        assert said["status"]["message"] == WHY


async def test_one_that_it_would_is_not() -> None:
    critical = pod_of("p", priority=2 * 10**9)
    assert await both("full", critical, FULL) == [{"allowed": True}] * 2


@pytest.mark.parametrize(
    ("pod", "warning"),
    [
        (pod_of("p"), "evicted at once from node tainted: taint maintenance:NoExecute is not "),
        (
            pod_of("p", "", tolerating(seconds=300), creation_timestamp=HOUR_AGO),
            "evicted in 300 s from node tainted by maintenance:NoExecute (bailiff: pod p)",
        ),
    ],
)
async def test_a_pod_that_would_be_evicted_is_warned_of(pod: Pod, warning: str) -> None:
    for said in await both("tainted", pod, TAINTED):
        assert said["allowed"]
        (told,) = said["warnings"]
        assert told.startswith(warning)
        assert len(told) <= 120


async def test_a_pod_that_would_stay_is_not_warned_of() -> None:
    assert await both("tainted", pod_of("p", "", tolerating()), TAINTED) == [{"allowed": True}] * 2


async def test_the_taints_of_its_devices_are_looked_at() -> None:
    pod = using("c", node="")
    objects = (node_of("n"), claim("c", on("a")), slice_of(a=()), rule(device="a"))
    for said in await both("n", pod, *objects):
        (told,) = said["warnings"]
        assert told.startswith("evicted at once from node n: taint rule:NoExecute of device ")


async def test_a_pod_that_does_not_say_its_namespace_lives_in_that_of_the_request() -> None:
    pod = using("c", node="n", namespace="")
    hooked = Hooked(node_of("n"), claim("c", on("a")), rule(device="a"))
    assert "at once" in (await create(hooked, pod))["warnings"][0]


async def test_a_binding_may_name_its_pod_alone() -> None:
    assert not (await bind(Hooked(pod_of("p"), FULL), binding("full"), name=""))["allowed"]


@pytest.mark.parametrize(
    ("error", "warnings"),
    [
        (ForbiddenError("no permission"), ["not looked at: no permission (bailiff: pod p)"]),
        (NotServedError("no devices"), []),
    ],
)
async def test_devices_that_cannot_be_read_are_told(error: Any, warnings: list[str]) -> None:
    hooked = Hooked(node_of("n"))
    hooked.source.errors = {ResourceClaim: error}
    said = await create(hooked, using("c", node="n"))
    assert said["allowed"]
    assert said.get("warnings", []) == warnings


async def test_a_node_that_is_not_there_is_told() -> None:
    for said in await both("absent", pod_of("p")):
        assert said == {
            "allowed": True,
            "warnings": ["node absent does not exist (bailiff: pod p)"],
        }


@pytest.mark.parametrize("kind", [Pod, Node])
async def test_what_cannot_be_read_is_told_and_allowed(kind: Any) -> None:
    hooked = Hooked(pod_of("p"), FULL)
    hooked.source.errors = {kind: FailedError("no JSON")}
    said = await bind(hooked, binding("full"))
    assert (said["allowed"], said["warnings"]) == (
        True,
        ["not looked at: no JSON (bailiff: pod p)"],
    )


async def test_what_is_not_read_in_time_is_told_and_allowed() -> None:
    hooked = Hooked(source=ShownSource(pod_of("p"), FULL, seconds=5), clock=LoopClock())
    said = await bind(hooked, binding("full"))
    assert said["warnings"] == ["not looked at: Pods were not read in time (bailiff: pod p)"]


async def test_pods_that_run_already_are_nobodys_business() -> None:
    hooked = Hooked(FULL)
    running = pod_of("p", "full")
    assert (await create(hooked, running, running))["allowed"]
    assert (await create(hooked, pod_of("p")))["allowed"]
    assert hooked.source.kinds == []
    assert not (await create(hooked, running, pod_of("p")))["allowed"]


async def test_nor_are_pods_that_show_what_a_kubelet_has_started() -> None:
    hooked = Hooked(FULL)
    mirror = pod_of("p", "full", annotations=Annotations(config_mirror="hash"))
    assert (await create(hooked, mirror))["allowed"]
    assert hooked.source.kinds == []


async def test_no_pod_calls_itself_a_static_one() -> None:
    pretending = pod_of("p", "full", annotations=Annotations(config_source="file"))
    assert not (await create(Hooked(FULL), pretending))["allowed"]


@pytest.mark.parametrize(
    ("pod", "given"),
    [
        pytest.param(pod_of("p", "elsewhere"), binding("full"), id="it is bound"),
        pytest.param(pod_of("p", uid="1"), binding("full", uid="2"), id="another of the name"),
        pytest.param(pod_of("other"), binding("full"), id="no such pod"),
        pytest.param(
            pod_of("p"),
            replace(binding("full"), target=BindingTarget(kind="Rack", name="full")),
            id="no node",
        ),
    ],
)
async def test_what_the_api_server_refuses_itself_is_left_to_it(pod: Pod, given: Binding) -> None:
    assert (await bind(Hooked(pod, FULL), given))["allowed"]


async def test_a_binding_by_its_own_resource_is_the_same() -> None:
    resource = {"group": "", "version": "v1", "resource": "bindings"}
    hooked = Hooked(pod_of("p"), FULL)
    said = await bind(hooked, binding("full"), resource=resource, subResource="")
    assert not said["allowed"]


async def test_a_node_is_read_once_for_many_pods() -> None:
    hooked = Hooked(*(pod_of(f"p{number}") for number in range(9)), node_of("n"))
    for number in range(9):
        assert (await bind(hooked, binding("n", f"p{number}"), name=f"p{number}"))["allowed"]
    assert hooked.source.kinds.count("Node") == 1
