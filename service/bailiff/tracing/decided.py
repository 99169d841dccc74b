"""A span around the core, which knows of none: how much was asked, and what it came to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from bailiff.decisions import Answer, Plan
    from bailiff.tracing.port import Attributes, Tracer

A = TypeVar("A", bound="Answer")


def decided(tracer: Tracer, question: str, plan: Plan[A]) -> A:
    """The answer to a question of this name, within a span of its own."""
    # Each answer passes here: without a tracer nothing is made for it.
    if not tracer.enabled:
        return plan.answer()
    about: dict[str, str | int] = {"bailiff.question": question, "bailiff.steps": plan.steps}
    with tracer.span("decide", about) as span:
        answer = plan.answer()
        if span.is_kept:
            span.set(_counts(answer))
        return answer


def _counts(answer: Answer) -> Attributes:
    """How many pods were decided for, and how; nothing of the pods themselves."""
    verdicts = Counter(one.verdict.value for one in answer.counted())
    counts = {f"bailiff.verdicts.{name.lower()}": number for name, number in verdicts.items()}
    return {"bailiff.pods": verdicts.total(), **counts}
