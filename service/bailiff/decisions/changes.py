"""What a change of an object would do to pods, before it is made: what an admission hook asks.

A system says which objects of the cluster it has to see for that, and is shown them, some at a time
(`System.look_at_change`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import Struct

from bailiff.decisions.cost import FactsError
from bailiff.decisions.decision import Finding, Verdict
from bailiff.decisions.question import Plan, Undecided
from bailiff.decisions.seen import NotRead, Wanted
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from bailiff.decisions.seen import Seen
    from bailiff.kinds import Pod

# Pods that are looked at for one change: far more than a kubelet runs, and few enough to be read
# and decided for while somebody waits.
MAX_CHANGED_PODS = 5_000


class ObjectChange(Struct, frozen=True):
    """An object as it is and as it is to be.

    Attributes:
        old: None where it is new.
        new: as it is to be.
        now: the instant to decide for.
        everywhere: pods are wanted, too, that the same causes evict elsewhere.
        by_kubernetes: Kubernetes' own controllers or kubelets make it: nobody reads what is said of
            it, and the nodes that fail wait for it.
    """

    old: Value | None
    new: Value
    now: datetime
    everywhere: bool = False
    by_kubernetes: bool = False


class TooMuchError(FactsError):
    """It would take too long to tell what a change evicts.

    Attributes:
        causes: that it brings, see Consequences.
    """

    def __init__(self, causes: Iterable[str], error: FactsError) -> None:
        super().__init__(error.path, error.reason)
        self.causes = tuple(causes)


@contextmanager
def weighing(causes: Iterable[str]) -> Iterator[None]:
    """Where a system weighs a change that brings these causes.

    Raises:
        TooMuchError: for the FactsError within.
    """
    try:
        yield
    except FactsError as error:
        raise TooMuchError(causes, error) from error


class ChangedPod(NamedTuple):
    """A pod that the change evicts, or evicts sooner.

    Attributes:
        pod: the pod.
        before: what is said of it now.
        after: what would be said; never that it stays.
    """

    pod: Pod
    before: Finding
    after: Finding

    @property
    def goes_now(self) -> bool:
        """At once, and it is not due without the change."""
        return self.after.verdict is Verdict.EVICT_NOW


class Consequences(Undecided, frozen=True, kw_only=True):
    """What a change evicts.

    Attributes:
        pods: that go by it, or sooner than without it.
        causes: what it brings that evicts and may be refused, each as findings name it.
        elsewhere: how many pods the same causes evict besides those, by cause and namespace.
        not_seen: what could not be looked at, and why.
        too_many: what was not looked at of whom the change itself may evict, because there is more
            than is looked at.
        uncounted: likewise, of what only counts beside those.
    """

    pods: tuple[ChangedPod, ...] = ()
    causes: tuple[str, ...] = ()
    elsewhere: Mapping[tuple[str, str], int] = {}
    not_seen: tuple[str, ...] = ()
    too_many: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()

    @property
    def going_now(self) -> tuple[Pod, ...]:
        """The pods that go at once."""
        return tuple(one.pod for one in self.pods if one.goes_now)


# Yields what it wants to see, several things at a time, or nothing, so that others have their turn
# where it takes long by itself; is sent what was seen of each, and returns
# the plan for the answer; None: the change evicts nobody.
ChangeLookUp: TypeAlias = Generator[
    tuple[Wanted, ...], "tuple[Seen, ...]", Plan[Consequences] | None
]


def worse(pod: Pod, before: Finding, after: Finding) -> ChangedPod | None:
    """The pod, where it goes after a change, and would not before, or later; None: it does not."""
    if after.verdict is Verdict.KEEP or before.verdict is Verdict.EVICT_NOW:
        return None
    found = ChangedPod(pod, before, after)
    if before.verdict is Verdict.KEEP or after.verdict is Verdict.EVICT_NOW:
        return found
    if before.evict_at is None or after.evict_at is None:
        return None
    return found if after.evict_at < before.evict_at else None


def nothing_seen(causes: Iterable[str], seen: NotRead) -> Plan[Consequences]:
    """What is to be said where the pods themselves could not be read."""
    told = Consequences(causes=tuple(causes), not_seen=(seen.detail,))
    return Plan(0, 0, lambda: told)
