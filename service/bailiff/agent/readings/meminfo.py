"""Memory of the machine, by /proc/meminfo (proc_meminfo(5))."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bailiff.agent.readings.files import field, is_there, line_of, number, number_in, read
from bailiff.kinds.meta import INT64_MAX

_KIB = 1024
# More sizes of huge pages than any processor has: those have up to four.
_MOST_SIZES = 64


class MachineMemory(NamedTuple):
    """What the machine has, in bytes; None: not measured.

    Attributes:
        total: usable memory (MemTotal).
        available: what the kernel estimates may be taken without swapping (MemAvailable).
        swap_total: swap.
        swap_free: of that free.
        huge_pages: set aside for huge pages of all sizes.
    """

    total: int | None = None
    available: int | None = None
    swap_total: int | None = None
    swap_free: int | None = None
    huge_pages: int | None = None


UNKNOWN = MachineMemory()


def machine_memory(meminfo: str, huge_pages: str) -> MachineMemory:
    """As the kernel tells.

    Args:
        meminfo: the file.
        huge_pages: the folder with one entry for each size of huge pages.
    """
    text = read(meminfo)
    if text is None:
        return UNKNOWN
    return MachineMemory(
        total=_kibibytes(text, b"MemTotal:"),
        available=_kibibytes(text, b"MemAvailable:"),
        swap_total=_kibibytes(text, b"SwapTotal:"),
        swap_free=_kibibytes(text, b"SwapFree:"),
        huge_pages=_set_aside(text, huge_pages),
    )


def _kibibytes(text: bytes, name: bytes) -> int | None:
    line = line_of(text, name)
    words = [] if line is None else line.split()
    if len(words) != 2 or words[1] != b"kB":
        return None
    return _times(number(words[0]), _KIB)


def _times(count: int | None, size: int | None) -> int | None:
    if count is None or size is None or count * size > INT64_MAX:
        return None
    return count * size


def _set_aside(text: bytes, folder: str) -> int | None:
    """For huge pages of all sizes, as cadvisor counts them (GetHugePagesInfo in utils/sysinfo).

    `Hugetlb` is the same sum, without a file for each size. Kernels before 4.20 do not tell it.
    """
    if line_of(text, b"Hugetlb:") is not None:
        return _kibibytes(text, b"Hugetlb:")
    if is_there(folder):
        return _of_all_sizes(folder)
    if line_of(text, b"HugePages_Total:") is None:
        # Such a kernel has none.
        return 0
    return _times(field(text, b"HugePages_Total:"), _kibibytes(text, b"Hugepagesize:"))


def _of_all_sizes(folder: str) -> int | None:
    """None: one of the sizes cannot be read."""
    total = 0
    try:
        sizes = [one.name for one in islice(Path(folder).iterdir(), _MOST_SIZES)]
    except (OSError, ValueError):
        return None
    for name in sizes:
        kibibytes = number(name.removeprefix("hugepages-").removesuffix("kB").encode())
        size = _times(kibibytes, _KIB)
        taken = _times(number_in(f"{folder}/{name}/nr_hugepages"), size)
        if taken is None:
            return None
        total += taken
    return min(total, INT64_MAX)
