"""The core's questions in few words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bailiff.decisions import SYSTEMS, Options

if TYPE_CHECKING:
    from bailiff.decisions import Decision, Plan, PodAnswer, Systems

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def planned(question: str, of: Systems = SYSTEMS, now: datetime = NOW, **facts: Any) -> Plan[Any]:
    """What a question of this name is counted to cost; FactsError where it cannot be asked."""
    found = of.questions[question]
    # Made from the registry, so that no type checker knows its fields.
    kind: Any = found.facts
    return found.plan(kind(**facts), now, Options())


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
