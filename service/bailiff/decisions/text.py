"""Taints, tolerations and times as kubectl writes them, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import to_builtins

from bailiff.decisions.instants import in_utc

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.kinds import Taint, Toleration


def describe_taint(taint: Taint) -> str:
    """`key=value:Effect`."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def describe_toleration(toleration: Toleration) -> str:
    """`key=value:Effect op=Exists for 300s`; an empty key or effect is left out."""
    text = toleration.key or "*"
    if toleration.value:
        text += f"={toleration.value}"
    if toleration.effect:
        text += f":{toleration.effect}"
    if toleration.operator not in ("", "Equal"):
        text += f" op={toleration.operator}"
    if toleration.toleration_seconds is not None:
        text += f" for {toleration.toleration_seconds}s"
    return text


def describe_time(instant: datetime) -> str:
    """RFC 3339 in UTC, as in JSON; fractions only where there are any."""
    return str(to_builtins(in_utc(instant)))
