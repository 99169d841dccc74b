"""How much CPU is in use: what has been used, between two readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

_SECOND = 1_000_000_000


class _Seen(NamedTuple):
    used: int
    at: int
    rate: int | None


class CpuUsage:
    """Of several cgroups, each by a key; as instCpuStats in cadvisor."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._seen: dict[str, _Seen] = {}

    def rate(self, key: str, used: int | None, at: int) -> int | None:
        """Billionths of a CPU since the last reading; None: this is the first.

        Args:
            key: which cgroup.
            used: nanoseconds on a CPU, ever; None: not measured.
            at: when, in nanoseconds of a clock that is never stepped.

        Returns:
            Of two readings within a second the same, since the shorter the time the less it says.
        """
        last = self._seen.get(key)
        if used is None or (last is not None and at - last.at < _SECOND):
            return None if used is None or last is None else last.rate
        rate = None
        # Another cgroup under the old name has used less.
        if last is not None and used >= last.used:
            rate = (used - last.used) * _SECOND // (at - last.at)
        self._seen[key] = _Seen(used, at, rate)
        return rate

    def keep(self, keys: Collection[str]) -> None:
        """Forget all others."""
        self._seen = {key: seen for key, seen in self._seen.items() if key in keys}
