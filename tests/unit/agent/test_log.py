"""Lines as all of Bailiff writes them."""

from __future__ import annotations

import contextlib
import io
import json
import os
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


def test_a_pipe_that_nobody_reads_keeps_nobody_waiting():
    reading, writing = os.pipe()
    # Closing it writes what it could not write.
    with contextlib.suppress(BrokenPipeError), os.fdopen(writing, "w") as out:
        log = Log(out)
        for _ in range(2000):
            log.info("evicted", pod="a/b", why="w" * 100)
        os.close(reading)
        log.info("evicted")
