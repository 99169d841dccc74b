"""Go's durations, as Kubernetes' configurations write them: `1m30s` (time.ParseDuration)."""

from __future__ import annotations

import re

from bailiff.kinds.meta import INT64_MAX

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # U+00B5, the micro sign
    "μs": 10**3,  # U+03BC, the Greek letter  # noqa: RUF001 - Go takes both
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)")
_LONGEST = 64


def parse_go_duration(text: str) -> int:
    """The nanoseconds of a duration, cut to whole ones.

    Args:
        text: such as `300ms`, `-1.5h` or `2h45m`; `0` needs no unit.

    Raises:
        ValueError: it is none, or longer than 292 years.
    """
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return 0
    if not rest or len(rest) > _LONGEST:
        raise _error(text)
    nanoseconds = at = 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None or not (part[1] or part[2]) or part[3] not in _UNITS:
            raise _error(text)
        unit, fraction = _UNITS[part[3]], part[2] or ""
        nanoseconds += int(part[1] or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        at = part.end()
    if nanoseconds > INT64_MAX:
        raise _error(text)
    return sign * nanoseconds


def _error(text: str) -> ValueError:
    return ValueError(
        f"must be a duration such as 30s, 1m30s or 500ms, at most 292 years, is {text[:64]!r}"
    )
