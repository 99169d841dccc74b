"""What a question is: all that the faces, the corpus and the documents know of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.cost import QUICK_BYTES, QUICK_STEPS
from bailiff.decisions.instants import in_utc
from bailiff.decisions.options import NO_OVERRIDES, OptionOverrides, Options
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.decisions.decision import Decision, Verdict


class Asked(Value, frozen=True, forbid_unknown_fields=True):
    """What every question has.

    A field that a question has not is refused: a misspelt `systems` would ask all of them. So it
    is with the sections and the options, and not with Kubernetes' objects, which have more fields
    than any rule reads.

    Attributes:
        now: the instant to decide for; absent: the server's clock.
        options: what to do otherwise than the server is set.
    """

    now: Time | None = None
    options: OptionOverrides = NO_OVERRIDES


class Answer(Protocol):
    """What every answer can tell of itself."""

    def counted(self) -> Sequence[Decision]:
        """The decisions in it that are to be counted as given."""
        ...


class Undecided(Value, frozen=True):
    """An answer in which no pod is decided for."""

    def counted(self) -> Sequence[Decision]:
        """None."""
        return ()


def tally(answer: Answer) -> Mapping[tuple[Verdict, str], int]:
    """How many decisions of an answer have which verdict, given by which system; "" for KEEP."""
    found: dict[tuple[Verdict, str], int] = {}
    for one in answer.counted():
        key = one.verdict, one.decided_by
        found[key] = found.get(key, 0) + 1
    return found


A = TypeVar("A", bound=Answer)


class QuestionTerms(Struct, frozen=True, gc=False):
    """Under which a question is answered.

    Attributes:
        now: the instant, in UTC.
        options: the server's, with the caller's laid over them.
    """

    now: datetime
    options: Options


class Plan(Struct, Generic[A], frozen=True):
    """A question that was found to be answerable, and what that will cost.

    Attributes:
        steps: rules to look at.
        told: bytes that the answer may have at most, as JSON.
        answer: does it.
    """

    steps: int
    told: int
    answer: Callable[[], A]

    @property
    def is_quick(self) -> bool:
        """It may be answered where it arrives; others are to be answered where nobody waits."""
        return self.steps <= QUICK_STEPS and self.told <= QUICK_BYTES


class Size(Enum):
    """How large a question may be. ONE: a pod and what is around it. MANY: those of a cluster."""

    ONE = "one"
    MANY = "many"


@dataclass(frozen=True, kw_only=True)
class Question(Generic[A]):
    """One question, under the same name in every face.

    Attributes:
        name: stable, as `decideBatch`.
        path: what it asks for, as `decisions/batch`.
        summary: one line.
        description: Markdown.
        facts: the type of what the caller brings, an Asked.
        answer: the type of the answer.
        weigh: counts what an answer costs and gives back the plan for it; raises FactsError where
            the facts do not suffice or are too many.
        explains: a trace is given where the caller does not say.
        size: how large it may be.
        service: the gRPC service whose method asks it.
    """

    name: str
    path: str
    summary: str
    description: str
    facts: type[Asked]
    answer: type[A]
    weigh: Callable[[Any, QuestionTerms], Plan[A]]
    explains: bool
    size: Size
    service: str = "EvictionDecisionService"

    def options(self, wanted: OptionOverrides, defaults: Options) -> Options:
        """The options that it is answered by.

        Args:
            wanted: by the caller, laid over all others.
            defaults: the server's; of `explain` the question's own default counts.
        """
        if defaults.explain is not self.explains:
            defaults = replace(defaults, explain=self.explains)
        return wanted.over(defaults)

    def plan(self, facts: Asked, now: datetime, defaults: Options) -> Plan[A]:
        """Count what an answer costs.

        Args:
            facts: what the caller tells, of the type `facts`.
            now: the clock's instant, used where the facts name none.
            defaults: the server's options, see `options`.

        Raises:
            FactsError: the facts do not suffice, or are too many.
        """
        options = self.options(facts.options, defaults)
        return self.weigh(facts, QuestionTerms(in_utc(facts.now or now), options))

    def ask(self, facts: Asked, now: datetime, defaults: Options) -> A:
        """The answer; args and errors as `plan`."""
        return self.plan(facts, now, defaults).answer()


@dataclass(frozen=True, kw_only=True)
class LiveQuestion(Generic[A]):
    """A question that names an object of a cluster: whoever answers reads the facts there.

    Attributes:
        name: stable, as `decideNodeOfCluster`.
        path: what it asks for, with the parameters in braces, as `nodes/{name}/decisions`.
        summary: one line.
        description: Markdown.
        asks: the question that it comes to once all has been read; its answer, its limits and
            whether a trace is given where the caller does not say are those of this one, too.
    """

    name: str
    path: str
    summary: str
    description: str
    asks: Question[A]
