"""Lengths of time as people write them: 90s, 45m, 2h, 1h30m, 3d."""

from __future__ import annotations

import re
from datetime import timedelta

_PARTS = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,7})s)?")
LONGEST = timedelta(days=365)


def parse_duration(text: str) -> timedelta:
    """The length of time.

    Raises:
        ValueError: it is none, or not above 0 and at most a year.
    """
    found = _PARTS.fullmatch(text)
    if found is None or not text:
        raise ValueError(f"expected a length of time as 45m, 2h, 1h30m or 3d, got {text!r}")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta() < length <= LONGEST:
        raise ValueError(f"expected more than 0 and at most 365d, got {text!r}")
    return length
