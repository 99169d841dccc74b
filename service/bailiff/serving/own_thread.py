"""A thread that has an owner: who waits for it hears what it failed of."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class OwnThread:
    """Runs one function beside the loop in which this is made."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        """Prepare; nothing runs yet.

        Args:
            name: of the thread, as debuggers show it.
            work: what to run; it is to return soon after it has been told to.
        """
        self._work = work
        self._owner = asyncio.get_running_loop()
        self._end: asyncio.Future[None] = self._owner.create_future()
        # A process that has to end does not wait for a thread that its owner could not end.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Run."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has returned or failed."""
        return self._end.done()

    async def wait(self) -> None:
        """Until it has returned; raises what it failed of."""
        await asyncio.shield(self._end)

    def _run(self) -> None:
        failure: BaseException | None = None
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - handed to the owner, whatever it is
            failure = error
        self._owner.call_soon_threadsafe(self._tell, failure)

    def _tell(self, failure: BaseException | None) -> None:
        self._thread.join()  # its last statement was to call this
        if failure is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(failure)
