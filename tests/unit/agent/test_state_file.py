"""What is kept over a restart: whole, or not at all."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from bailiff.agent.log import Log
from bailiff.agent.settings import OptionError
from bailiff.agent.state_file import Remembered, StateFile, Untold

UNTOLD = Untold(
    namespace="n", name="a", uid="1", message="m", cause="memory.available", grace_period_seconds=1
)


def file(path: Path | None) -> tuple[StateFile, io.StringIO]:
    said = io.StringIO()
    return StateFile(path, Log(said, text=True)), said


def test_what_was_written_is_read_again(tmp_path):
    kept = Remembered(pressure="x", untold=(UNTOLD,))
    file(tmp_path / "state")[0].write(kept)
    assert file(tmp_path / "state")[0].read() == kept
    assert [one.name for one in tmp_path.iterdir()] == ["state"]


def test_nobody_else_may_read_it(tmp_path):
    file(tmp_path / "state")[0].write(Remembered(pressure="x"))
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b'{"untold":7}', b"[" * 100_000, b" " * 3_000_000]
)
def test_a_file_of_no_use_is_nothing_and_is_told_of(tmp_path, content):
    (tmp_path / "state").write_bytes(content)
    memory, said = file(tmp_path / "state")
    assert memory.read() == Remembered()
    assert "nothing is remembered" in said.getvalue()


def test_no_file_is_nothing(tmp_path):
    memory, said = file(tmp_path / "state")
    assert memory.read() == Remembered()
    assert said.getvalue() == ""


def test_without_a_path_nothing_is_kept():
    memory, _ = file(None)
    memory.write(Remembered(pressure="x"))
    assert memory.read() == Remembered()


def test_a_folder_that_is_not_there_is_told_of_once(tmp_path):
    memory, said = file(tmp_path / "nowhere" / "state")
    memory.write(Remembered(pressure="x"))
    memory.write(Remembered(pressure="y"))
    assert said.getvalue().count("not remembered") == 1


def test_the_same_is_written_once(tmp_path):
    memory, _ = file(tmp_path / "state")
    memory.write(Remembered(pressure="x"))
    (tmp_path / "state").unlink()
    memory.write(Remembered(pressure="x"))
    assert not (tmp_path / "state").exists()


def test_two_agents_do_not_go_by_one_file(tmp_path):
    first, second = (StateFile(tmp_path / "state", Log(io.StringIO())) for _ in range(2))
    first.lock()
    with pytest.raises(OSError, match="another agent"):
        second.lock()


def test_what_lies_where_the_new_file_is_to_be_is_replaced(tmp_path):
    os.mkfifo(tmp_path / "state.new")
    file = StateFile(tmp_path / "state", Log(io.StringIO()))
    file.write(Remembered(pressure="x"))
    assert file.read().pressure == "x"


def test_without_its_folder_there_is_no_agent(tmp_path):
    with pytest.raises(OptionError, match="there is no folder"):
        file(tmp_path / "nowhere" / "state")[0].lock()


def test_what_cannot_be_kept_is_complained_of_until_it_can(tmp_path):
    told: list[str] = []
    folder = tmp_path / "state"
    folder.mkdir()
    kept = StateFile(folder, Log(io.StringIO()), told.append)
    kept.write(Remembered(pressure="x"))
    assert "directory" in told[-1]
    folder.rmdir()
    kept.write(Remembered(pressure="y"))
    assert told[-1] == ""
