"""Every line of a process's log has one form, whoever writes it."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest
import structlog

from bailiff.bootstrap.process import configure_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Configures the logs of this process in one form, as if nobody had."""
    root = logging.getLogger()
    level = root.level

    def configure(form: str) -> None:
        monkeypatch.setenv("BAILIFF_LOG_FORMAT", form)
        monkeypatch.setattr(root, "handlers", [])
        configure_logs()

    yield configure
    root.setLevel(level)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_what_a_library_logs_is_json_as_ours_is(
    capsys: pytest.CaptureFixture[str], configured: Callable[[str], None]
) -> None:
    configured("json")
    structlog.get_logger().warning("ours", pod="a")
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received from %s.", "b")
    logging.getLogger("uvicorn.error").info("not told")
    ours, theirs = lines(capsys)
    assert theirs.keys() == {"event", "level", "timestamp", "logger"}
    assert theirs["event"] == "Invalid HTTP request received from b."
    assert theirs["logger"] == "uvicorn.error"
    assert ours.keys() == {"event", "level", "timestamp", "pod"}
    assert ours["level"] == theirs["level"] == "warning"
    assert ours["timestamp"][:14] == theirs["timestamp"][:14]


def test_a_traceback_is_part_of_its_line(
    capsys: pytest.CaptureFixture[str], configured: Callable[[str], None]
) -> None:
    configured("json")
    logging.getLogger("asyncio").error("failed", exc_info=ValueError("no such thing"))
    (line,) = lines(capsys)
    assert "ValueError: no such thing" in line["exception"]


def test_text_is_for_people(
    capsys: pytest.CaptureFixture[str], configured: Callable[[str], None]
) -> None:
    configured("text")
    logging.getLogger("uvicorn.error").warning("Unsupported upgrade request.")
    told = capsys.readouterr().err
    assert "Unsupported upgrade request." in told
    assert "uvicorn.error" in told
