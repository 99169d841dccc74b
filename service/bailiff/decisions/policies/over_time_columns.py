"""What a budget over time has counted together, and by which entry a pod stands there.

A pod that is evicted by its UID has one entry. By its name it has one for each try, since whoever
goes by its name may be another pod by then, one that has come under the same name. Is the pod still
there TRIED seconds later, and not ending, the try is over and has done nothing, as the name was the
pod's all the time: its entry may be taken for the next one. And one is kept for a pod whose gang
goes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import count
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from bailiff.decisions.policies.over_time import Way

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies.over_time import Wish

# Seconds for which one that asks again keeps its instant.
AGAIN = 5.0
# The gate may take 10 s for an answer: so long after the instant that is counted one may be let go.
# kube-apiserver waits up to 30 s for other webhooks, and tries a conflict again for 10 s
# (pkg/registry/core/pod/storage/eviction.go, EvictionsRetry); the worker gives an attempt 30 s. For
# clocks 3 s are left.
_ANSWER = 10.0
MARGIN = _ANSWER + 30.0 + 10.0 + 3.0 + AGAIN
# Seconds after which a try by name can do nothing any more: so long before the next one is counted
# its pod may have been read.
TRIED = MARGIN - AGAIN + _ANSWER


class Column(Struct, frozen=True, gc=False):
    """The evictions that one budget counts together.

    Attributes:
        by_pod: the POSIX millisecond of each, the earliest first.
        instants: the same without the pods.
    """

    by_pod: Mapping[str, int] = {}
    instants: Sequence[int] = ()

    @classmethod
    def of(cls, by_pod: Mapping[str, int]) -> Column:
        """These, in any order."""
        ordered = dict(sorted(by_pod.items(), key=itemgetter(1)))
        return cls(ordered, tuple(ordered.values()))

    def opened(self, since: int) -> Column:
        """One that may be written, without what is not after `since`."""
        first = bisect_right(self.instants, since)
        if not first:
            return Column(dict(self.by_pod), list(self.instants))
        kept = {pod: at for pod, at in self.by_pod.items() if at > since}
        return Column(kept, list(self.instants[first:]))


class Sheet(Struct, frozen=True, gc=False):
    """What one budget has counted: the seconds of its span, and its columns by their keys."""

    seconds: int
    columns: Mapping[str, Column] = {}


Book: TypeAlias = "Mapping[str, Sheet]"
EMPTY_BOOK: Book = {}


def entry_of(column: Column, wish: Wish, since: float, now: float) -> str:
    """What it is counted by, as far as that does for the way that it goes; empty: nothing does.

    Args:
        column: where it is counted.
        wish: of the pod.
        since: POSIX milliseconds; what was counted until then no longer counts.
        now: likewise.
    """
    by_pod = column.by_pod
    by_name = wish.way in (Way.BY_NAME, Way.SUCCESSOR)
    own = (wish.kept_as,) if by_name else (wish.pod, wish.kept_as)
    for entry in own:
        if by_pod.get(entry, 0) > since:
            return entry
    if wish.way is Way.SUCCESSOR:
        # It may be by one of its tries that it is ending.
        return ""
    # Those of which nothing more can come; any, where it does not go now.
    until = inf if wish.way is Way.LATER else now - TRIED * 1000
    return next((one for one in tries_of(column, wish) if since < by_pod[one] <= until), "")


def tries_of(column: Column, wish: Wish) -> Iterator[str]:
    """The entries of its tries by its name."""
    for number in count():
        entry = wish.tried_as(number)
        if entry not in column.by_pod:
            return
        yield entry


def unused_of(column: Column, wish: Wish) -> str:
    """By what its next try is counted."""
    return wish.tried_as(sum(1 for _ in tries_of(column, wish)))
