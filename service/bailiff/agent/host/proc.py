"""What /proc says of the whole machine.

Source: proc(5); pkg/kubelet/stats/pidlimit/pidlimit_linux.go for processes, adjustForHugePages in
pkg/kubelet/server/stats/summary.go for huge pages.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiff.agent.host.files import fields_of, number_of, text_of, whole

_KIBIBYTE = 1024


class Machine(NamedTuple):
    """Memory of the machine, in bytes; None: it was not measured.

    Attributes:
        total: all that there is.
        available: what may be taken without swapping, as the kernel estimates.
        huge_pages: set aside for huge pages.
        swap_total: all of it.
        swap_free: of that.
    """

    total: int | None
    available: int | None
    huge_pages: int
    swap_total: int | None
    swap_free: int | None


def machine_of(root: str = "") -> Machine:
    """By /proc/meminfo, and by /sys/kernel/mm for huge pages of all sizes."""
    told = fields_of(text_of(f"{root}/proc/meminfo"))

    def amount(name: str) -> int | None:
        value = told.get(name)
        return None if value is None else value * _KIBIBYTE

    # "Hugetlb" has those of all sizes.
    huge = amount("Hugetlb")
    if huge is None:
        huge = told.get("HugePages_Total", 0) * (amount("Hugepagesize") or 0)
    return Machine(
        amount("MemTotal"),
        amount("MemAvailable"),
        huge,
        amount("SwapTotal"),
        amount("SwapFree"),
    )


def processes_of(root: str = "") -> tuple[int, int] | None:
    """How many processes and threads may run, and how many do; None: that is not known."""
    limits = (
        number_of(f"{root}/proc/sys/kernel/pid_max"),
        number_of(f"{root}/proc/sys/kernel/threads-max"),
    )
    known = [one for one in limits if one is not None]
    # As "0.20 0.18 0.12 1/80 11206": the second of the fourth.
    parts = text_of(f"{root}/proc/loadavg").split()
    running = whole(parts[3].rpartition("/")[2]) if len(parts) > 3 else None
    if not known or running is None:
        return None
    return min(known), running
