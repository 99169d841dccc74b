"""What a live node's kubelet tells, made into the facts of a round; or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.decisions.pressure.configuring import settings_of
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.findings import unmeasured
from bailiff.decisions.pressure.judging import layout_of, metering_of
from bailiff.decisions.pressure.observations import measured_at
from bailiff.decisions.pressure.versions import told_version
from bailiff.decisions.seen import NotRead, OfKubelet, Why
from bailiff.decisions.system import Unread
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import Summary

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.decision import Finding
    from bailiff.decisions.system import LookUp, Scene
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.meta import Value

# Seconds, as for the worker (--pressure-stale-after): a kubelet measures every 10 s or so, and one
# that hangs may go on answering with what it has.
_OLDEST = 120.0


class Unmeasured(Unread):
    """Nothing is known of the node's pressure, so nobody is said to go for it, or to stay."""

    def __init__(self, why: str) -> None:
        """Say the same of every pod."""
        self._said = unmeasured(why)

    def of(self, pod: Pod) -> Finding:  # noqa: ARG002 - as of Round
        """See Round."""
        return self._said


def look_up(scene: Scene) -> LookUp[PressureFacts]:
    """The node's summary, and the configuration that its kubelet runs with.

    Without the configuration nobody is judged: its thresholds may be any. There is no state of a
    round before, so it is as if the kubelet had just started. Without the other pods of the node
    nobody is ranked.
    """
    if scene.node is None or scene.neighbours is None:
        return PressureFacts()
    seen = yield OfKubelet(scene.node)
    if not isinstance(seen, NotRead):
        return _judged(scene.node, seen, scene.now)
    return PressureFacts() if seen.why is Why.NOT_ASKED else Unmeasured(seen.detail)


def _judged(node: Node, seen: tuple[Value, ...], now: datetime) -> PressureFacts | Unmeasured:
    """The facts, or why nobody can be judged by them."""
    facts = _facts_of(node, seen)
    try:
        settings_of(facts)
        layout_of(facts)
        metering_of(facts)
    except FactsError as error:
        return Unmeasured(f"its kubelet tells what cannot be: {error}")
    age = _age(facts, now)
    if age > _OLDEST:
        return Unmeasured(f"its kubelet has measured nothing new for {age:.0f} s")
    return facts


def _facts_of(node: Node, seen: tuple[Value, ...]) -> PressureFacts:
    told = node.status.node_info
    return PressureFacts(
        summary=next((one for one in seen if isinstance(one, Summary)), None),
        configuration=next((one for one in seen if isinstance(one, KubeletConfiguration)), None),
        kubelet_version=told_version(told.kubelet_version),
        operating_system=told.operating_system,
    )


def _age(facts: PressureFacts, now: datetime) -> float:
    """Seconds since the node was measured, by the kubelet's clock and ours; without a time it is 0.

    Unlike a worker, who sees whether times move, a look-up sees one summary.
    """
    measured = None if facts.summary is None else measured_at(facts.summary.node)
    return 0.0 if measured is None else (now - measured).total_seconds()
