"""How an actor runs: it notices changes, then acts, then sleeps until it must again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Protocol

from bailiff.embedded.errors import ApiError
from bailiff.embedded.storage import Change

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.storage import Store, Watch

_log = logging.getLogger(__name__)

# Objects written before others get the loop again.
BATCH = 100


class Actor(Protocol):
    """A pretended component.

    Attributes:
        resources: what it watches.
    """

    resources: tuple[Resource, ...]

    def notice(self, resource: Resource, change: Change) -> None:
        """Remember what a change calls for. What is there at the start comes as ADDED."""
        ...

    def act(self, now: float) -> float | None:
        """Do what is due, at most about BATCH writes.

        Args:
            now: the loop's time in seconds.

        Returns:
            When to be called again even if nothing changes; None for never.
        """
        ...


async def perform(actor: Actor, registry: Registry) -> None:
    """Run an actor until cancelled."""
    while True:
        try:
            await _perform(actor, registry.store)
        except ApiError as error:
            # It fell behind the history: it begins again with the present state.
            _log.warning("%s begins again: %s", type(actor).__name__, error)


async def _perform(actor: Actor, store: Store) -> None:
    signal = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        watches = []
        for resource in actor.resources:
            watch = stack.enter_context(store.watch(resource, signal=signal))
            watches.append((resource, watch))
            for record in list(store.bucket(resource).records()):
                actor.notice(resource, Change("ADDED", record, None))
        while True:
            due = actor.act(loop.time())
            await _sleep(signal, due)
            _notice_all(actor, watches)


def _notice_all(actor: Actor, watches: list[tuple[Resource, Watch]]) -> None:
    for resource, watch in watches:
        while changes := watch.read():
            for change in changes:
                actor.notice(resource, change)


async def _sleep(signal: asyncio.Event, due: float | None) -> None:
    # Even where there is more to do at once, others get their turn.
    await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await signal.wait()
    signal.clear()


def attempt(actor: Actor, action: str) -> contextlib.AbstractContextManager[None, bool]:
    """Let an actor survive a refusal, as a controller would: it will notice the next change."""
    return _Attempt(type(actor).__name__, action)


class _Attempt(contextlib.AbstractContextManager[None, bool]):
    def __init__(self, who: str, action: str) -> None:
        self._who, self._action = who, action

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, ApiError):
            return False
        _log.warning("%s could not %s: %s", self._who, self._action, error)
        return True
