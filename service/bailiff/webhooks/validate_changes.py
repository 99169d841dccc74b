"""`validate/nodes`, `validate/devicetaintrules`, `validate/resourceslices`: changes of taints.

Whoever makes one is told what it evicts. One that evicts more than the policy `blastRadius` allows
is refused until its object acknowledges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from bailiff.decisions import NotRead, Wanted
from bailiff.decisions.admission.radius import (
    namespaces_to_count,
    refusal,
    refusal_untold,
    told_too_much,
)
from bailiff.decisions.admission.telling import signed, warnings_of
from bailiff.decisions.budgets import steps_of
from bailiff.decisions.changes import Consequences, ObjectChange, TooMuchError
from bailiff.decisions.cost import MAX_STEPS, QUICK_STEPS
from bailiff.kinds import DeviceTaintRule, Node, Pod, PodDisruptionBudget, ResourceSlice
from bailiff.kinds.accounts import is_kubelet_of, marks_nodes
from bailiff.kinds.admission_review import is_absent
from bailiff.webhooks.hook import ALLOWED, Hook, Outcome, refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bailiff.decisions.policies import BlastRadius
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.parts import HookParts
    from bailiff.webhooks.sight import Sight

Tainting: TypeAlias = "Node | DeviceTaintRule | ResourceSlice"

DEVICES = "resource.k8s.io"
# Others select and name devices in other fields (k8s.io/api/resource/v1alpha3, v1beta1).
_DEVICE_VERSIONS = frozenset({"v1", "v1beta2"})
# Namespaces of which pods are counted for one change, and pods of each.
_MAX_NAMESPACES, _MAX_COUNTED = 50, 5_000
_UNFINISHED = (("status.phase", "Succeeded"), ("status.phase", "Failed"))


class ValidateChanges(Hook):
    """What a change of the taints in one kind of object evicts."""

    def __init__(
        self, parts: HookParts, sight: Sight, kind: type[Tainting], plural: str, group: str = ""
    ) -> None:
        """Prepare.

        Args:
            parts: see there.
            sight: of the cluster.
            kind: of the objects.
            plural: as they are served.
            group: of their API; empty for the core group.
        """
        self._parts, self._sight, self._kind = parts, sight, kind
        self.path = f"validate/{plural}"
        self.targets = frozenset({f"{plural}.{group}" if group else plural})
        self.summary = f"What does a change of the taints of {plural} evict?"
        self.description = _DESCRIPTION.format(plural=plural)

    async def review(self, request: AdmissionRequest, deadline: float) -> Outcome:
        """See Hook."""
        if request.operation not in ("CREATE", "UPDATE"):
            return ALLOWED
        asked = request.resource
        if asked.group == DEVICES and asked.version not in _DEVICE_VERSIONS:
            said = f"not looked at: {asked.resource} of {asked.group}/{asked.version}"
            return Outcome(warnings=(signed(said, f"{asked.resource} {request.name}"),))
        new = await self._parts.objects.read(request.object, self._kind)
        old = None
        if not is_absent(request.old_object):
            old = await self._parts.objects.read(request.old_object, self._kind, "oldObject")
        outcome = await self._outcome(request, old, new, deadline)
        if outcome.allowed and not request.dry_run and isinstance(new, Node):
            self._sight.allowed(new)
        return outcome

    async def _outcome(
        self, request: AdmissionRequest, old: Tainting | None, new: Tainting, deadline: float
    ) -> Outcome:
        bounds = None if _is_own_node(request) else self._parts.policies().blast_radius
        change = ObjectChange(
            old,
            new,
            self._parts.clock.now(),
            everywhere=bounds is not None,
            by_kubernetes=marks_nodes(request.user_info.username),
        )
        try:
            found = await self._consequences(change, deadline)
        except TooMuchError as error:
            return _too_much(error, bounds, new)
        told: list[str] = []
        for one in found:
            outcome = await self._judged(change, one, bounds, new, deadline)
            told += outcome.warnings
            if not outcome.allowed:
                return replace(outcome, warnings=tuple(told))
        return Outcome(warnings=tuple(told))

    async def _consequences(self, change: ObjectChange, deadline: float) -> list[Consequences]:
        found = []
        for looking in self._parts.systems.look_at_change(change, self._parts.options):
            plan = await self._sight.look(looking, deadline)
            if plan is not None:
                found.append(await self._parts.carry_out(plan, "change"))
        return found

    async def _judged(
        self,
        change: ObjectChange,
        found: Consequences,
        bounds: BlastRadius | None,
        new: Tainting,
        deadline: float,
    ) -> Outcome:
        found, budgets = await self._with_budgets(found, deadline)
        counted: Mapping[str, int] = {}
        if bounds is not None:
            enough = namespaces_to_count(found, bounds, new)
            found, counted = await self._counted(found, enough, deadline)
        warnings = await self._warnings(found, budgets, change.now, _name(new))
        why = None if bounds is None else refusal(found, bounds, counted, new)
        if why is None:
            return Outcome(warnings=warnings)
        return replace(refused(403, "Forbidden", why), warnings=warnings)

    async def _warnings(
        self, found: Consequences, budgets: list[PodDisruptionBudget], now: datetime, about: str
    ) -> tuple[str, ...]:
        if steps_of(found.going_now, budgets) <= QUICK_STEPS:
            return warnings_of(found, budgets, now, about)
        return await self._parts.threads.run(warnings_of, found, budgets, now, about)

    async def _with_budgets(
        self, found: Consequences, deadline: float
    ) -> tuple[Consequences, list[PodDisruptionBudget]]:
        going = found.going_now
        if not going:
            return found, []
        (seen,) = await self._sight.see((Wanted(PodDisruptionBudget),), deadline)
        if isinstance(seen, NotRead):
            return _unseen(found, seen.detail), []
        budgets = [one for one in seen if isinstance(one, PodDisruptionBudget)]
        if steps_of(going, budgets) > MAX_STEPS:
            what = f"{len(budgets)} PodDisruptionBudgets, too many to go through"
            return _unseen(found, what), []
        return found, budgets

    async def _counted(
        self, found: Consequences, enough: Mapping[str, int], deadline: float
    ) -> tuple[Consequences, Mapping[str, int]]:
        """Pods by namespace, as far as they matter; and what is not known of them."""
        names = sorted(enough)[:_MAX_NAMESPACES]
        if len(enough) > len(names):
            found = _uncounted(found, f"pods of {len(enough) - len(names)} more namespaces")
        wanted = [_unfinished(one, min(enough[one], _MAX_COUNTED)) for one in names]
        counted = {}
        for name, seen in zip(names, await self._sight.see(wanted, deadline), strict=True):
            if isinstance(seen, NotRead):
                found = _unseen(found, seen.detail)
                continue
            counted[name] = len(seen)
            if _MAX_COUNTED <= len(seen) < enough[name]:
                counted[name] = enough[name]
                found = _uncounted(found, f"pods of namespace {name} beyond {_MAX_COUNTED}")
        return found, counted


def _unfinished(namespace: str, most: int) -> Wanted:
    return Wanted(Pod, namespace, unlike=_UNFINISHED, most=most)


def _is_own_node(request: AdmissionRequest) -> bool:
    """A kubelet makes its own node, with the taints that it was started with."""
    return is_kubelet_of(request.user_info.username, request.name)


def _unseen(found: Consequences, detail: str) -> Consequences:
    return replace(found, not_seen=(*found.not_seen, detail))


def _uncounted(found: Consequences, what: str) -> Consequences:
    return replace(found, uncounted=(*found.uncounted, what))


def _name(new: Tainting) -> str:
    kind = "node" if isinstance(new, Node) else type(new).__name__
    return f"{kind} {new.metadata.name}"


def _too_much(error: TooMuchError, bounds: BlastRadius | None, new: Tainting) -> Outcome:
    why = None if bounds is None else refusal_untold(error, new)
    if why is None:
        said = f"not looked at: {told_too_much(error)}"
        return Outcome(warnings=(signed(said, _name(new)),))
    return refused(403, "Forbidden", why)


_DESCRIPTION = (
    "Warns of what a change of the taints of {plural} evicts, when, and of PodDisruptionBudgets "
    "that it would violate. Refuses what exceeds the policy `blastRadius` until the object carries "
    "the annotation `bailiff.dev/acknowledged-taints`. What takes taints away is never refused."
)
