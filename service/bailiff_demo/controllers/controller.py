"""How a controller runs: it notices changes, then acts, then sleeps until it must again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Protocol

from bailiff_demo.errors import ApiError
from bailiff_demo.store import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff_demo.registry import Registry
    from bailiff_demo.resources import Resource
    from bailiff_demo.store import Store

_log = logging.getLogger(__name__)

# After a fault of its own a controller rests so long.
_PAUSE_SECONDS = 1.0
# Objects written before others get the loop again.
BATCH = 100


class Controller(Protocol):
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


async def run(controller: Controller, registry: Registry) -> None:
    """Run a controller until cancelled; after a fault it begins again with the present state."""
    while True:
        try:
            await _run(controller, registry.store)
        except ApiError as error:
            # It fell behind the history.
            _log.warning("%s begins again: %s", type(controller).__name__, error)
        except Exception:  # noqa: BLE001 - the edge of a controller: logged, and begun again
            # An object that it cannot live with must not leave the cluster without it.
            _log.exception("%s begins again", type(controller).__name__)
            await asyncio.sleep(_PAUSE_SECONDS)


async def _run(controller: Controller, store: Store) -> None:
    wake = asyncio.Event()
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        watches = {r: stack.enter_context(store.watch(r, wake=wake)) for r in controller.resources}
        for resource in watches:
            for record in list(store.bucket(resource).records()):
                controller.notice(resource, Change("ADDED", record, None))
        while True:
            await _sleep(wake, controller.act(loop.time()))
            for resource, watch in watches.items():
                while changes := watch.read():
                    for change in changes:
                        controller.notice(resource, change)


async def _sleep(wake: asyncio.Event, due: float | None) -> None:
    # Even where there is more to do at once, others get their turn.
    await asyncio.sleep(0)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout_at(due):
            await wake.wait()
    wake.clear()


@contextlib.contextmanager
def attempt(controller: Controller, action: str) -> Iterator[None]:
    """Let a controller survive a refusal, as a real one would: it will notice the next change."""
    try:
        yield
    except ApiError as error:
        _log.warning("%s could not %s: %s", type(controller).__name__, action, error)
