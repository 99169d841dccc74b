"""Questions of the core's table, asked about objects in files or of a cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from bailiff.cli.errors import InputError
from bailiff.cli.facts import filled, kinds_in
from bailiff.cli.objects import KINDS
from bailiff.decisions import SYSTEMS, FactsError, OptionOverrides, Options, Systems

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.kinds.meta import Value
    from bailiff.lookup import LookUps

T = TypeVar("T")

_NOTHING: Mapping[str, Any] = MappingProxyType({})

# A worker's policies stand in a file of its own, which no question about the cluster shows.
NOT_LOOKED_AT = (
    "not looked at: policies of a worker and a pause, which may hold an eviction back; "
    "GET /v1/queue of the worker tells"
)


def systems_of(given: object) -> Systems:
    """The systems that are asked: those that the command is given, or all that there are."""
    return given if isinstance(given, Systems) else SYSTEMS


def namespace_of(chosen: ClusterChoice, said: str | None) -> str:
    """The namespace that is said, or else kubectl's for this cluster.

    Raises:
        ClusterUnusable: its configuration cannot be used.
    """
    if said:
        return said
    from bailiff.bootstrap import looking  # noqa: PLC0415 - loads a client of clusters

    return looking.usual_namespace(chosen)


class Asking(NamedTuple):
    """Who is asked, and under which terms.

    Attributes:
        systems: who.
        options: how they decide.
        now: the instant to decide for; None: when it is asked.
        explain: give the trace; None: as each question has it.
    """

    systems: Systems
    options: Options
    now: datetime | None = None
    explain: bool | None = None

    def ask(
        self,
        name: str,
        all_of: Callable[[type[Value]], tuple[Value, ...]],
        of_sections: Mapping[str, Any] = _NOTHING,
        **told: object,
    ) -> Any:  # noqa: ANN401 - each question has its own type of answer
        """The answer to a question about objects that are at hand.

        Args:
            name: of the question.
            all_of: the objects of one kind.
            of_sections: what is said for systems' sections, as `filled` takes it.
            told: what else is said, by the name of the field.

        Raises:
            InputError: that does not suffice, or is too much.
        """
        question = self.systems.questions[name]
        told["options"] = msgspec.convert({"explain": self.explain}, OptionOverrides)
        try:
            facts = filled(question.facts, told, of_sections, tuple(KINDS.values()), all_of)
            return question.ask(facts, self.now or datetime.now(UTC), self.options)
        except (FactsError, msgspec.ValidationError) as error:
            # Of whatever was said, or of objects: in files, or of a cluster where there are none.
            raise InputError(f"this cannot be asked: {error}") from error

    def kinds_for(self, name: str) -> tuple[type[Value], ...]:
        """The kinds of objects that a question has lists of."""
        facts = self.systems.questions[name].facts
        return tuple(kinds_in(facts, tuple(KINDS.values())))

    def look_up(self, chosen: ClusterChoice, ask: Callable[[LookUps], Awaitable[T]]) -> T:
        """Something about the objects of a cluster.

        Raises:
            ClusterUnusable: it cannot be asked.
            StartError: it has no such object, does not let it be read, or has too many.
        """
        from bailiff.bootstrap import looking  # noqa: PLC0415 - as above

        return looking.look_up(chosen, self.systems, ask, self.now)
