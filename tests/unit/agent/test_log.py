"""Lines as all of Bailiff writes them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import threading
from datetime import UTC, datetime

import pytest

from bailiff.agent.log import Log

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def line(text: bool = False, level: str = "info", **facts: object) -> str:
    out = io.StringIO()
    log = Log(out, text=text, level=level, now=lambda: AT)
    log.always["mode"] = "dry run, nothing is done"
    log.info("evicted", **facts)
    return out.getvalue()


def test_a_line_of_json_has_what_the_other_processes_lines_have():
    assert json.loads(line(pod="a/b", why=ValueError("x"))) == {
        "event": "evicted",
        "level": "info",
        "timestamp": "2026-01-02T03:04:05Z",
        "pod": "a/b",
        "why": "x",
        "mode": "dry run, nothing is done",
    }


def test_a_fact_cannot_pass_for_what_every_line_has():
    assert json.loads(line(event_="x", level_="y"))["event"] == "evicted"


def test_text_for_people():
    said = line(text=True, pod="a/b")
    assert said == "2026-01-02T03:04:05Z [info] evicted pod=a/b mode=dry run, nothing is done\n"


@pytest.mark.parametrize(("level", "there"), [("debug", True), ("info", True), ("warning", False)])
def test_levels(level, there):
    assert bool(line(level=level)) is there


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize(
    "facts",
    [
        {"why": "w" * 100_000},
        {"why": "é\u0001" * 50_000},
        {f"fact{number}": "w" * 1000 for number in range(100)},
        {"names": ["n" * 50] * 1000},
    ],
    ids=["one long", "one that is longer as JSON", "many", "no text"],
)
def test_a_line_fits_into_what_a_pipe_takes_at_once(text, facts):
    said = line(text=text, **facts)
    assert len(said.encode()) <= 4096
    assert said.endswith("\n")
    assert text or json.loads(said)["event"] == "evicted"


def test_of_a_long_line_as_much_is_told_as_fits():
    said = json.loads(line(why="w" * 100_000, pod="a/b"))
    assert (said["pod"], said["why"]) == ("a/b", f"{'w' * 1500}...")


@pytest.mark.parametrize("length", [100, 4000, 100_000])
def test_a_pipe_that_nobody_reads_keeps_nobody_waiting(length):
    """In a thread, since it would never end where this is not so."""
    reading, writing = os.pipe()
    # Closing it writes what it could not write.
    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "w") as out:
        log = Log(out)

        def write() -> None:
            for _ in range(200):
                log.info("evicted", pod="a/b", why="w" * length)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(10)
        is_stuck = thread.is_alive()
        os.close(reading)
        thread.join(10)
        assert not is_stuck
        log.info("evicted")


def test_a_terminal_that_nobody_reads_keeps_nobody_waiting():
    """It is writable with less room than a line takes."""
    reading, writing = os.openpty()
    with os.fdopen(writing, "w") as out:
        log = Log(out, text=True)

        def write() -> None:
            for _ in range(200):
                log.info("evicted", why="w" * 1000)

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(10)
        is_stuck = thread.is_alive()
        os.close(reading)
        assert not is_stuck


@pytest.mark.parametrize("text", [True, False])
def test_half_a_character_is_told_as_it_can_be(text):
    assert "udcff" in line(text=text, file="/x/\udcff") or text


def test_a_file_is_written_behind_what_others_write_to_it(tmp_path):
    with (tmp_path / "log").open("w") as out:
        log = Log(out, text=True)
        log.info("first")
        out.write("of somebody else\n")
        out.flush()
        log.info("last")
    said = (tmp_path / "log").read_text().splitlines()
    assert [one.split()[-1] for one in said] == ["first", "else", "last"]
