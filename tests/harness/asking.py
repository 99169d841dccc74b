"""The core's questions in few words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bailiff.decisions import SYSTEMS, Options

if TYPE_CHECKING:
    from bailiff.decisions import Decision, PodAnswer, PodsAnswer, Question, Systems

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def ask(question: str, *, of: Systems = SYSTEMS, now: datetime = NOW, **facts: Any) -> Any:
    """The answer to a question of this name; FactsError where it cannot be asked."""
    found: Question[Any] = of.questions[question]
    return found.ask(found.facts(**facts), now, Options())


def decide(**facts: Any) -> Decision:
    """The decision for one pod."""
    answer: PodAnswer = ask("decide", **facts)
    return answer.decision


def decide_batch(**facts: Any) -> PodsAnswer:
    """The answer for many."""
    answer: PodsAnswer = ask("decideBatch", **facts)
    return answer


def plan(question: str, *, of: Systems = SYSTEMS, **facts: Any) -> int:
    """The steps that a question is counted to need; FactsError where it is too much."""
    found: Question[Any] = of.questions[question]
    return found.plan(found.facts(**facts), NOW, Options()).steps
