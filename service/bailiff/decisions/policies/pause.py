"""The pause, as it stands in a ConfigMap: who stopped all evictions, why, since when, until when.

The key `paused` holds what `bailiff pause` writes, a JSON object, or whatever a person typed with
kubectl. Evictions go on only where that is clearly meant: no key, nothing in it, or `false`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bailiff.decisions.text import describe_time
from bailiff.kinds import DecodeError, Time, decode
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

KEY = "paused"
# A ConfigMap holds 1 MiB; a message that people read does not.
_MAX_TEXT = 500


class PauseNotice(Value, frozen=True, forbid_unknown_fields=True):
    """All evictions are paused.

    Attributes:
        by: who paused; empty where nobody said.
        reason: why; empty where nobody said.
        since: from when on, as told.
        until: when evictions resume by themselves; absent: when a person says so.
    """

    by: str = ""
    reason: str = ""
    since: Time | None = None
    until: Time | None = None

    def is_over(self, now: datetime) -> bool:
        """It has ended by itself; where the clock is put right later, it may hold again."""
        return self.until is not None and self.until <= now

    def describe(self) -> str:
        """`paused by anna since 2026-01-31T12:00:00Z until ...: migration`."""
        text = "paused"
        if self.by:
            text += f" by {_shorten(self.by)}"
        if self.since is not None:
            text += f" since {describe_time(self.since)}"
        if self.until is not None:
            text += f" until {describe_time(self.until)}"
        return f"{text}: {_shorten(self.reason)}" if self.reason else text


def read_pause(data: Mapping[str, str]) -> PauseNotice | None:
    """What the data of the ConfigMap says, be it over or not; None: not paused.

    What is no notice that we know, broken JSON too, pauses with the text as its reason.
    """
    text = data.get(KEY, "").strip()
    if not text or text.casefold() == "false":
        return None
    return _read(text)


def write_pause(notice: PauseNotice) -> str:
    """The value of the key."""
    return msgspec.json.encode(notice).decode()


def _read(text: str) -> PauseNotice:
    if text.casefold() == "true":
        return PauseNotice()
    try:
        return decode(text.encode(), PauseNotice)
    except DecodeError:
        return PauseNotice(reason=text)


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
