"""The system of device taints: what it decides from, and what it wants to see of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.device_taints.consequences import look_at_change
from bailiff.decisions.device_taints.facts import DeviceTaintFacts
from bailiff.decisions.device_taints.findings import (
    SYSTEM,
    DeviceTaintSubject,
    device_eviction_off,
    devices_not_read,
    devices_not_served,
    no_claims,
)
from bailiff.decisions.device_taints.looking import look_up
from bailiff.decisions.device_taints.objects import as_if_on, index_of
from bailiff.decisions.device_taints.pods import has_claims
from bailiff.decisions.device_taints.preview import PREVIEW_DEVICE_TAINT_RULE
from bailiff.decisions.device_taints.report import DeviceTaintReport, report_on
from bailiff.decisions.device_taints.weighing import weigh
from bailiff.decisions.seen import NotRead, Why
from bailiff.decisions.system import Round, System, Unread
from bailiff.kinds import DeviceTaintRule, ResourceClaim, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.cost import Cost
    from bailiff.decisions.decision import Finding
    from bailiff.decisions.device_taints.index import DeviceTaintIndex
    from bailiff.decisions.options import Options
    from bailiff.decisions.system import LookUp, Scene
    from bailiff.kinds import Pod


class DeviceTaintSystem(System[DeviceTaintFacts]):
    """Should the NoExecute taints of its devices evict this pod (KEP-5055)?"""

    name = SYSTEM
    needs = "deviceTaints"
    # Wherever the pod runs, its devices are its own.
    by_node = False
    wants = (ResourceClaim, ResourceSlice, DeviceTaintRule)
    facts = DeviceTaintFacts
    report = DeviceTaintReport
    subjects = (DeviceTaintSubject,)
    questions = (PREVIEW_DEVICE_TAINT_RULE,)

    def is_reached(self, scene: Scene, facts: DeviceTaintFacts) -> bool:  # noqa: ARG002 - see System
        """Where the question brings claims, slices or rules."""
        return facts.any

    def check(self, scene: Scene, facts: DeviceTaintFacts) -> None:
        """Nothing is refused: who asks it by name of a cluster without devices brings none."""

    def cost(self, scene: Scene, facts: DeviceTaintFacts, options: Options) -> Cost:
        """See System."""
        return weigh(facts, scene.pods, explain=options.explain)

    def prepare(self, scene: Scene, facts: DeviceTaintFacts, options: Options) -> Round:
        """See System."""
        if not options.device_taint_eviction:
            return _Off()
        index = index_of(facts)
        prepared = _Devices(scene, index, options)
        if facts.resource_claims:
            prepared.report = report_on(index, facts.resource_claims, scene.now, options)
        return prepared

    def rounds(self, facts: DeviceTaintFacts) -> Callable[[Scene, Options], Round]:
        """By one index, and without a report."""
        index = index_of(facts)

        def prepare(scene: Scene, options: Options) -> Round:
            return _Devices(scene, index, options) if options.device_taint_eviction else _Off()

        return prepare

    def sees_of_pod(self, pod: Pod) -> Hashable | None:
        """Its claims, so that only pods without any are alike."""
        return None if has_claims(pod) else ()

    def look_up(self, scene: Scene, options: Options) -> LookUp[DeviceTaintFacts]:
        """The claims that the pods name, the slices of their devices, and all rules."""
        users = [pod for pod in scene.pods if has_claims(pod)]
        if not users:
            return DeviceTaintFacts()
        if not options.device_taint_eviction:
            return _Unseen(device_eviction_off())
        found = yield from look_up(users, options)
        return _Unseen(_without(found)) if isinstance(found, NotRead) else found

    def look_at_change(self, change: ObjectChange, options: Options) -> ChangeLookUp:
        """See System."""
        return look_at_change(change, options)


class _Devices(Round):
    def __init__(self, scene: Scene, index: DeviceTaintIndex, options: Options) -> None:
        self._scene = scene
        self._options = options
        self._index = index

    def of(self, pod: Pod) -> Finding:
        pod = as_if_on(self._scene.node, pod)
        return self._index.decide(pod, self._scene.now, self._options)


class _Off(Round):
    """The gate DRADeviceTaintEviction is off."""

    def of(self, pod: Pod) -> Finding:
        return device_eviction_off() if has_claims(pod) else no_claims()


class _Unseen(Unread):
    """The devices were not looked at."""

    def __init__(self, said: Finding) -> None:
        self._said = said

    def of(self, pod: Pod) -> Finding | None:
        return self._said if has_claims(pod) else None


def _without(found: NotRead) -> Finding:
    if found.why is Why.NOT_SERVED:
        return devices_not_served()
    return devices_not_read(found.detail)


DEVICE_TAINTS = DeviceTaintSystem()
