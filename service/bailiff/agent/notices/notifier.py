"""All that the host has to tell by, in one place: who is told, and when a mark is set anew.

A notice says nothing but that it is time to look: a storm of them is one look. Where one of the
ways cannot be had, or is lost, the others go on, and the rounds that are due by time anyway.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from bailiff.agent.notices.pace import Pace
from bailiff.decisions.pressure.notifying import REFRESH_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bailiff.agent.log import Log
    from bailiff.clock import Clock


# What marks in the memory in use are of: the node as a whole; all its pods together; and the pods
# in place of the node, see marks_for_pods.
NODE, PODS, PODS_FOR_NODE = "node", "pods", "podsForNode"


class Way(Protocol):
    """One way in which the kernel tells."""

    @property
    def descriptor(self) -> int | None:
        """Becomes readable when there is something; None: not before it is given a mark."""
        ...

    def take(self) -> bool:
        """Whether there is; raises OSError where there never will be again."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


class Marked(Way, Protocol):
    """A way that tells at marks."""

    def move(self, marks: Sequence[int]) -> None:
        """Tell at these marks from now on, in rising order; raises OSError."""
        ...


class Ways(NamedTuple):
    """What a host has, each by the name that metrics know it by.

    Attributes:
        marked: those that tell at a mark; their keys begin with the name, and end with what the
            mark is of, see `Notifier.rearm`.
        others: those that tell by themselves.
    """

    marked: Mapping[tuple[str, str], Marked]
    others: Mapping[str, Way]


NO_WAYS = Ways({}, {})


class Notifier:
    """Owns the ways of one node. Start it in the event loop, and close it."""

    def __init__(self, ways: Ways, told: Callable[[str], None], clock: Clock, log: Log) -> None:
        """Prepare.

        Args:
            ways: of the host.
            told: is called in the event loop, with the name of the way that tells.
            clock: marks are set anew by.
            log: hears of ways that are lost.
        """
        self._told = told
        self._clock = clock
        self._log = log
        self._marked: dict[tuple[str, str], Marked] = {}
        self._ways: dict[str, Way] = {}
        self._paces: dict[str, Pace] = {}
        self._watched: dict[str, int] = {}
        self._armed_at: dict[tuple[str, str], float] = {}
        self._keep(ways)

    @property
    def names(self) -> tuple[str, ...]:
        """The ways that there are."""
        return tuple(self._ways)

    def start(self) -> None:
        """Begin to listen."""
        for name in self._ways:
            self._watch(name)

    def add(self, ways: Ways) -> None:
        """Listen to these as well; they have names of their own."""
        for name in self._keep(ways):
            self._watch(name)

    def rearm(self, marks: Mapping[str, Sequence[int]]) -> None:
        """Set marks anew, each at most once in ten seconds unless somebody has gone.

        Args:
            marks: bytes in use, by what they are of: `node`, or `pods` for all pods together; in
                rising order. Of what is not named the last ones stay.
        """
        elapsed = self._clock.elapsed()
        for key, way in list(self._marked.items()):
            wanted, last = marks.get(key[1]), self._armed_at.get(key)
            if wanted is None or (last is not None and elapsed - last < REFRESH_SECONDS):
                continue
            self._armed_at[key] = elapsed
            self._move(key, way, wanted)

    def renew(self) -> None:
        """Somebody has gone: marks that have told of it are set anew by the next round."""
        self._armed_at.clear()

    def close(self) -> None:
        """Listen no more."""
        for name in list(self._ways):
            self._drop(name)

    def _keep(self, ways: Ways) -> Sequence[str]:
        """The names of what is kept."""
        self._marked |= ways.marked
        # One that is made anew has no mark yet.
        self._armed_at = {key: at for key, at in self._armed_at.items() if key not in ways.marked}
        kept = {":".join(key): way for key, way in ways.marked.items()} | dict(ways.others)
        self._ways |= kept
        told = self._told
        self._paces |= {name: Pace(partial(told, name.partition(":")[0])) for name in kept}
        return tuple(kept)

    def _move(self, key: tuple[str, str], way: Marked, marks: Sequence[int]) -> None:
        name = ":".join(key)
        self._leave(name)
        try:
            way.move(marks)
        except OSError as error:
            # A mark below what is in use, or a cgroup that is being made anew: the next may do.
            self._log.info("marks not set", way=name, marks=marks, error=str(error))
        self._watch(name)

    def _watch(self, name: str) -> None:
        descriptor = self._ways[name].descriptor
        if descriptor is not None:
            self._watched[name] = descriptor
            asyncio.get_running_loop().add_reader(descriptor, self._readable, name)

    def _leave(self, name: str) -> None:
        descriptor = self._watched.pop(name, None)
        if descriptor is not None:
            asyncio.get_running_loop().remove_reader(descriptor)

    def _readable(self, name: str) -> None:
        try:
            told = self._ways[name].take()
        except OSError as error:
            self._log.warning("the kernel tells no more this way", way=name, error=str(error))
            self._drop(name)
            return
        if told:
            self._paces[name].notice()

    def _drop(self, name: str) -> None:
        self._leave(name)
        self._paces.pop(name).close()
        self._ways.pop(name).close()
        self._marked = {key: way for key, way in self._marked.items() if ":".join(key) != name}
