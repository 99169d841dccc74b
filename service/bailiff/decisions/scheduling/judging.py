"""Nodes at one instant, asked pod by pod: feasible or not, how much liked, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from bailiff.decisions.asking import Asking
from bailiff.decisions.decision import Finding, Verdict
from bailiff.decisions.joining import earliest
from bailiff.decisions.scheduling.filters import normalized
from bailiff.decisions.scheduling.maintenance import leaving
from bailiff.decisions.scheduling.verdicts import NodesVerdict, Residency, preferred_first
from bailiff.decisions.system import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
    from datetime import datetime

    from bailiff.decisions.options import Options
    from bailiff.decisions.scheduling.filters import Filtered
    from bailiff.decisions.scheduling.groups import Part
    from bailiff.decisions.scheduling.pool import NodePool
    from bailiff.decisions.system import Round, System
    from bailiff.kinds import Pod
    from bailiff.kinds.meta import Value

# Tolerations of a pod that is compared with others: to compare lists costs their length.
_LONGEST_LIST = 100
# Any name will do where the node does not matter: only that there is one counts.
_SOME_NODE = "(any)"
_NOTHING_SAID = Residency(
    for_ever=True, reason="NothingSaid", message="no system says anything of the pod there"
)


class Shared(NamedTuple):
    """A system that says the same of a pod wherever it runs.

    Attributes:
        system: the system.
        facts: what it decides from.
        prepare: makes it ready for an instant.
    """

    system: System[Any]
    facts: Value
    prepare: Callable[[Scene, Options], Round]


class _Place:
    """Some nodes that are alike, ready to be asked about pods that come now."""

    __slots__ = ("_asking", "_now", "_options", "_systems", "part")

    def __init__(
        self, part: Part, systems: Iterable[System[Any]], now: datetime, options: Options
    ) -> None:
        self.part = part
        self._now = now
        self._options = options
        self._systems = tuple(systems)
        scene = Scene((), now, part.node)
        self._asking = Asking(_rounds_of(self._systems, scene, options), scene, options)

    def residency(self, pod: Pod, anywhere: tuple[Finding, ...]) -> Residency:
        """Until when the pod could stay there; `anywhere`: what is said of it wherever it runs."""
        found = [*self._asking.findings(pod), *anywhere]
        if not pod.has_ended:
            found += self._not_admitted(pod)
            if self.part.group.periods:
                ends = leaving(self.part.group.periods, self._now)
                found += () if ends is None else (ends,)
        return _residency(earliest(tuple(found)), self._now) if found else _NOTHING_SAID

    def _not_admitted(self, pod: Pod) -> Iterator[Finding]:
        """That the kubelet would not start the pod, so that it would be there for no time."""
        for system in self._systems:
            said = system.not_admitted(pod, self.part.node, self._options)
            if said is not None:
                message = f"its kubelet would not start the pod: {said.message.strip()}"
                yield Finding(
                    system=system.name,
                    verdict=Verdict.EVICT_NOW,
                    reason="NotAdmitted",
                    message=message,
                )


class Judging:
    """Nodes at one instant.

    Attributes:
        parts: the nodes, those that are alike together.
        now: the instant.
        options: that it is judged by.
    """

    def __init__(
        self, pool: NodePool, parts: tuple[Part, ...], now: datetime, options: Options
    ) -> None:
        """Prepare; `NodePool.at` is what callers use."""
        self.parts = parts
        self.now = now
        self.options = options
        self._pool = pool
        self._places: dict[Hashable, _Place] | None = None
        self._anywhere: Asking | None = None
        self._known: dict[Hashable, tuple[NodesVerdict, ...]] = {}

    @property
    def shared_names(self) -> frozenset[str]:
        """The systems that are asked though the node plays no part for them, by name."""
        return frozenset(one.system.name for one in self._pool.shared)

    def of(self, pod: Pod) -> tuple[NodesVerdict, ...]:
        """What is said of all nodes for a pod, the preferred first.

        Args:
            pod: the pod. It is judged as if it were bound to no node yet and came now, wherever
                `spec.nodeName` says that it runs. One that has ended leaves by itself, so that it
                stays as far as evictions go, see Asking.
        """
        key = self.likeness(pod)
        found = None if key is None else self._known.get(key)
        if found is None:
            found = self._judge(coming(pod))
            if key is not None:
                self._known[key] = found
        return found

    def likeness(self, pod: Pod) -> Hashable | None:
        """Pods of which this is the same get the same answer. None: it is like no other."""
        if pod.has_ended or len(pod.spec.tolerations) > _LONGEST_LIST:
            return None
        seen = [one.sees_of_pod(pod) for one in self._pool.systems]
        return None if None in seen else (pod.spec.tolerations, *seen)

    def _judge(self, pod: Pod) -> tuple[NodesVerdict, ...]:
        anywhere = self._said_anywhere(pod)
        filtered = self._pool.filtered(pod.spec.tolerations, self.options)
        alike: dict[tuple[Filtered, Residency], list[Part]] = {}
        stays = {
            stay: place.residency(pod, anywhere) for stay, place in self._ready_places().items()
        }
        for part in self.parts:
            alike.setdefault((filtered.of(part.group), stays[part.stay]), []).append(part)
        highest = max((one.raw_score for one, _ in alike if one.feasible), default=0)
        return preferred_first(_verdict(*key, parts, highest) for key, parts in alike.items())

    def _ready_places(self) -> Mapping[Hashable, _Place]:
        """One for all nodes where residencies are the same, whatever else sets them apart."""
        if self._places is None:
            systems = [one for one in self._pool.systems if one.by_node]
            apart = {one.stay: one for one in self.parts}
            self._places = {
                stay: _Place(one, systems, self.now, self.options) for stay, one in apart.items()
            }
        return self._places

    def _said_anywhere(self, pod: Pod) -> tuple[Finding, ...]:
        """By systems for which the node plays no part; a pod without one has no say there."""
        if not self._pool.shared:
            return ()
        if self._anywhere is None:
            scene = Scene((), self.now)
            rounds = [(one.system, one.prepare(scene, self.options)) for one in self._pool.shared]
            self._anywhere = Asking(rounds, scene, self.options)
        return self._anywhere.findings(_bound(pod, _SOME_NODE))


def coming(pod: Pod) -> Pod:
    """A pod as if it were bound to no node yet."""
    return _bound(pod, "") if pod.spec.node_name else pod


def _bound(pod: Pod, node: str) -> Pod:
    return replace(pod, spec=replace(pod.spec, node_name=node))


def _rounds_of(
    systems: Iterable[System[Any]], scene: Scene, options: Options
) -> list[tuple[System[Any], Round]]:
    """Of the systems that can decide from the node alone."""
    return [
        (one, one.prepare(scene, one.facts(), options))
        for one in systems
        if one.is_reached(scene, one.facts())
    ]


def _residency(finding: Finding, now: datetime) -> Residency:
    """What a finding comes to for a pod that comes now."""
    if finding.verdict is Verdict.KEEP:
        return Residency(for_ever=True, reason=finding.reason, message=finding.message)
    until = finding.evict_at if finding.verdict is Verdict.EVICT_AT else now
    return Residency(
        for_ever=False,
        until=until,
        reason=finding.reason,
        message=finding.message,
        decided_by=finding.system,
    )


def _verdict(
    filtered: Filtered, residency: Residency, parts: list[Part], highest: int
) -> NodesVerdict:
    names = parts[0].names
    if len(parts) > 1:
        names = tuple(sorted([name for part in parts for name in part.names]))
    score = normalized(filtered.raw_score, highest) if filtered.feasible else None
    return NodesVerdict(
        nodes=names,
        feasible=filtered.feasible,
        objections=filtered.objections,
        raw_score=filtered.raw_score,
        normalized_score=score,
        residency=residency,
    )
