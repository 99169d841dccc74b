"""Asking the core, with this server's clock and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.decisions import Asked, Options, Plan, Question, Systems
    from bailiff.decisions.question import Answer
    from bailiff.rest_api.metrics import Metrics

A = TypeVar("A", bound="Answer")


class Asking:
    """What every question is asked with.

    Attributes:
        systems: who answers, and what can be asked of them.
        options: of questions that bring none.
    """

    def __init__(self, systems: Systems, clock: Clock, options: Options, metrics: Metrics) -> None:
        """Prepare.

        Args:
            systems: see above.
            clock: the instant of questions that name none.
            options: see above.
            metrics: where decisions are counted.
        """
        self.systems = systems
        self.options = options
        self._clock = clock
        self._metrics = metrics

    def plan(self, question: Question[A], facts: Asked) -> Plan[A]:
        """The plan for an answer.

        Raises:
            FactsError: the facts do not suffice, or are too many.
        """
        return question.plan(facts, self._clock.now(), self.options)

    def carry_out(self, plan: Plan[A]) -> A:
        """The answer, whose decisions are counted."""
        given = plan.answer()
        self._metrics.count(given)
        return given
