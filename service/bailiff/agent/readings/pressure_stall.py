"""For how much of the time tasks waited: the kernel's PSI (Documentation/accounting/psi.rst).

Source of the reading: statPSI in github.com/opencontainers/cgroups, fs2/psi.go.
"""

from __future__ import annotations

from bailiff.agent.readings.files import line_of, read
from bailiff.kinds.stats import StallAverages, StallInformation

_MOST_PERCENT = 100.0
_WINDOWS = (b"avg10", b"avg60", b"avg300")


def stalls_in(path: str | None) -> StallInformation | None:
    """Of /proc/pressure/RESOURCE, or of a cgroup's RESOURCE.pressure; None: not measured."""
    text = None if path is None else read(path)
    return None if text is None else stalls_of(text)


def stalls_of(text: bytes) -> StallInformation | None:
    """What such a file says.

    Kernels before 5.13 do not tell of the CPU for how long all tasks waited at once; the kubelet
    tells zeros then.
    """
    some = _averages(text, b"some ")
    full = _averages(text, b"full ") if line_of(text, b"full ") is not None else StallAverages()
    return None if some is None or full is None else StallInformation(some=some, full=full)


def _averages(text: bytes, name: bytes) -> StallAverages | None:
    line = line_of(text, name)
    if line is None:
        return None
    told = dict(word.partition(b"=")[::2] for word in line.split())
    found = [_percent(told.get(window, b"")) for window in _WINDOWS]
    ten, minute, five_minutes = found
    if ten is None or minute is None or five_minutes is None:
        return None
    return StallAverages(avg10=ten, avg60=minute, avg300=five_minutes)


def _percent(text: bytes) -> float | None:
    # Python would also read `nan`, `1e3` and `1_0`.
    if not text.replace(b".", b"", 1).isdigit():
        return None
    value = float(text)
    return value if value <= _MOST_PERCENT else None
