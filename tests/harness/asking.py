"""The core's questions in few words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bailiff.decisions import SYSTEMS, Options, Round, Scene
from bailiff.decisions.asking import Asking, Named
from bailiff.decisions.device_taints import SYSTEM as DEVICE_SYSTEM
from bailiff.decisions.device_taints import preview
from bailiff.decisions.node_taints import change
from bailiff.decisions.options import DEFAULT_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from bailiff.decisions import Decision, Finding, Plan, PodAnswer, Systems
    from bailiff.decisions.device_taints import DeviceTaintIndex
    from bailiff.kinds import Pod
    from bailiff.kinds.meta import Value

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def planned(question: str, of: Systems = SYSTEMS, now: datetime = NOW, **facts: Any) -> Plan[Any]:
    """What a question of this name is counted to cost; FactsError where it cannot be asked."""
    found = of.questions[question]
    # Made from the registry, so that no type checker knows its fields.
    kind: Any = found.facts
    return found.plan(kind(**facts), now, Options())


def take_any_taint(patch: pytest.MonkeyPatch) -> None:
    """Let previews be asked with taints of any characters, where only lengths matter."""
    for module, name in ((change, "check_taint"), (change, "check_key"), (preview, "check_taint")):
        patch.setattr(module, name, lambda *_: None)


def steps(question: str, **facts: Any) -> int:
    """The steps alone."""
    return planned(question, **facts).steps


def ask(question: str, **facts: Any) -> Any:
    """The answer, whose reports no type checker knows."""
    return planned(question, **facts).answer()


def decide(**facts: Any) -> Decision:
    """The decision for one pod."""
    answer: PodAnswer = ask("decide", **facts)
    return answer.decision


def decide_batch(**facts: Any) -> Any:
    """The answer for many."""
    return ask("decideBatch", **facts)


class Says(Round):
    """A round that is a function, and a report where there is one."""

    def __init__(self, of: Callable[[Pod], Finding | None], report: Value | None = None) -> None:
        self._of = of
        self.report = report

    def of(self, pod: Pod) -> Finding | None:
        return self._of(pod)


def of_devices(
    index: DeviceTaintIndex, pod: Pod, now: datetime, options: Options = DEFAULT_OPTIONS
) -> Finding:
    """What device taints come to for a pod, by the index, with what holds for every system."""
    said = Says(lambda one: index.decide(one, now, options))
    asking = Asking([(Named(DEVICE_SYSTEM, by_node=False), said)], Scene((pod,), now), options)
    (finding,) = asking.findings(pod)
    return finding
