"""What is to be kept is written beside the rounds, by threads that are real."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING, cast

from bailiff.agent.log import Log
from bailiff.agent.state_file import Remembered, StateFile
from bailiff.agent.writing import BackgroundWrites

if TYPE_CHECKING:
    from pathlib import Path


def on_disk(path: Path) -> Remembered:
    return StateFile(path, Log(io.StringIO())).read()


def test_what_was_written_is_there_once_it_is_finished(tmp_path):
    writes = BackgroundWrites(StateFile(tmp_path / "state", Log(io.StringIO())))
    for number in range(100):
        writes.write(Remembered(pressure=str(number)))
    assert writes.finish(10)
    assert on_disk(tmp_path / "state").pressure == "99"


def test_without_anything_to_write_it_is_finished():
    assert BackgroundWrites(StateFile(None, Log(io.StringIO()))).finish(0)


class HangingFile:
    """One whose disk hangs until it is let go."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()
        self.written: list[str] = []

    def write(self, remembered: Remembered) -> None:
        self.begun.set()
        self.let_go.wait()
        self.written.append(remembered.pressure)


def test_a_disk_that_hangs_holds_nobody_up_and_the_last_is_written():
    file = HangingFile()
    writes = BackgroundWrites(cast("StateFile", file))
    writes.write(Remembered(pressure="first"))
    assert file.begun.wait(10)
    for text in ("second", "third"):
        writes.write(Remembered(pressure=text))
    assert not writes.finish(0.01)
    file.let_go.set()
    assert writes.finish(10)
    assert file.written == ["first", "third"]
