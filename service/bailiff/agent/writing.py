"""The state file is written beside the rounds: a disk that hangs must not hold one up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.agent.state_file import Remembered, StateFile


class BackgroundWrites:
    """Hands what is to be kept to a thread; of what came meanwhile the last is written.

    The thread is a daemon: a process that is to end does not wait for a disk that hangs.
    """

    def __init__(self, file: StateFile) -> None:
        """The thread begins with the first write."""
        self._file = file
        self._changed = threading.Condition()
        self._next: Remembered | None = None
        self._writing = False
        self._thread: threading.Thread | None = None

    def read(self) -> Remembered:
        """See StateFile; to be called before the first write."""
        return self._file.read()

    def write(self, remembered: Remembered) -> None:
        """Have this kept, soon."""
        with self._changed:
            self._next = remembered
            self._changed.notify_all()
        if self._thread is None or not self._thread.is_alive():
            # A fault of ours has told of itself, and has ended the one before.
            self._thread = threading.Thread(target=self._run, name="state file", daemon=True)
            self._thread.start()

    def finish(self, seconds: float) -> bool:
        """Wait for so long until everything is written; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: self._next is None and not self._writing, seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None)
                remembered, self._next, self._writing = self._next, None, True
            try:
                if remembered is not None:
                    self._file.write(remembered)
            finally:
                with self._changed:
                    self._writing = False
                    self._changed.notify_all()
