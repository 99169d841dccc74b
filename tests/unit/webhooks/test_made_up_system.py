"""A system that only a test knows is found by the hooks: whom it bars, and what a change evicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bailiff.decisions import Finding, NotRead, Plan, Systems, Verdict, Wanted
from bailiff.decisions.changes import ChangedPod, Consequences
from bailiff.decisions.seen import NotAdmitted
from bailiff.kinds import DeviceTaintRule, Node, Pod
from bailiff.webhooks import hooks_of
from tests.harness.admission import app_of, ask, parts_of
from tests.harness.changes import ShownSource
from tests.harness.device_kinds import rule
from tests.harness.hooks import as_json
from tests.harness.kinds import node_of, pod_of
from tests.harness.made_up_system import LightsOutSystem

if TYPE_CHECKING:
    from bailiff.decisions import Options
    from bailiff.decisions.changes import ChangeLookUp, ObjectChange

STAYS = Finding(system="s", verdict=Verdict.KEEP, reason="r", message="m")
GOES = Finding(system="s", verdict=Verdict.EVICT_NOW, reason="r", message="m", cause="dark")


class Dark(LightsOutSystem):
    """In the dark nobody starts; and every new rule puts the lights out."""

    def not_admitted(self, pod: Pod, node: Node, options: Options) -> NotAdmitted | None:
        return NotAdmitted("Dark", "the lights are out")

    def look_at_change(self, change: ObjectChange, options: Options) -> ChangeLookUp:
        if not isinstance(change.new, DeviceTaintRule):
            return None
        (seen,) = yield (Wanted(Pod),)
        assert not isinstance(seen, NotRead)
        pods = tuple(ChangedPod(one, STAYS, GOES) for one in seen if isinstance(one, Pod))
        return Plan(0, 0, lambda: Consequences(pods=pods, causes=("dark",)))


async def said(hook: str, resource: str, group: str, new: Any) -> Any:
    source = ShownSource(node_of("n"), pod_of("p", "n"))
    parts = replace(parts_of(source), systems=Systems((Dark(),)))
    return await ask(
        app_of(*hooks_of(parts)),
        f"validate/{hook}",
        resource={"group": group, "version": "v1", "resource": resource},
        object=as_json(new),
    )


async def test_whom_it_bars_is_refused() -> None:
    found = await said("pods", "pods", "", pod_of("p", "n"))
    assert found["status"]["message"].endswith("would not start the pod: the lights are out")


async def test_what_a_change_evicts_by_it_is_told() -> None:
    found = await said("devicetaintrules", "devicetaintrules", "resource.k8s.io", rule())
    assert found["warnings"] == ["evicts 1 pod now (bailiff: DeviceTaintRule r, dark)"]
    assert "warnings" not in await said("nodes", "nodes", "", node_of("n"))
