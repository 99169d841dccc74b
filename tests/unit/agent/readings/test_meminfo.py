"""Memory of the machine, and what of it is set aside for huge pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.meminfo import UNKNOWN, MachineMemory, machine_memory
from bailiff.kinds.meta import INT64_MAX

GIB = 1024**3
_LINES = "MemTotal: 1048576 kB\nMemAvailable: 524288 kB\nSwapTotal: 2048 kB\nSwapFree: 1024 kB\n"


def _read(tmp_path: Path, text: str, sizes: dict[str, str] | None = None) -> MachineMemory:
    (tmp_path / "meminfo").write_text(text)
    folder = tmp_path / "hugepages"
    for name, count in (sizes or {}).items():
        (folder / name).mkdir(parents=True)
        (folder / name / "nr_hugepages").write_text(count)
    return machine_memory(str(tmp_path / "meminfo"), str(folder))


def test_kibibytes_become_bytes(tmp_path: Path) -> None:
    expected = MachineMemory(GIB, GIB // 2, 2 * 1024**2, 1024**2, 0)
    assert _read(tmp_path, _LINES) == expected


def test_no_file_is_nothing_measured(tmp_path: Path) -> None:
    assert machine_memory(str(tmp_path / "none"), str(tmp_path)) == UNKNOWN


@pytest.mark.parametrize(
    "line",
    [
        "MemTotal: kB",
        "MemTotal: -1 kB",
        "MemTotal: 1",
        "MemTotal: 1 MB",
        "MemTotal: 1 kB kB",
        "MemTotal: 9223372036854775807 kB",
        "MemTotals: 1 kB",
        "MemTotal:",
    ],
)
def test_a_malformed_line_is_not_measured(tmp_path: Path, line: str) -> None:
    assert _read(tmp_path, line).total is None


@pytest.mark.parametrize(
    ("lines", "sizes", "expected"),
    [
        ("Hugetlb: 4096 kB\nHugePages_Total: 9\nHugepagesize: 2048 kB\n", {}, 4096 * 1024),
        ("Hugetlb: many kB\n", {"hugepages-2048kB": "1"}, None),
        ("", {"hugepages-2048kB": "3\n", "hugepages-1048576kB": "1\n"}, 6 * 1024**2 + GIB),
        ("", {"hugepages-2048kB": "x"}, None),
        ("", {"hugepages-2MB": "1"}, None),
        ("", {"hugepages-1kB": str(INT64_MAX)}, None),
        ("HugePages_Total: 5\nHugepagesize: 2048 kB\n", None, 10 * 1024**2),
        ("HugePages_Total: 5\n", None, None),
        ("", None, 0),
    ],
)
def test_huge_pages_of_all_sizes(
    tmp_path: Path, lines: str, sizes: dict[str, str] | None, expected: int | None
) -> None:
    assert _read(tmp_path, _LINES + lines, sizes).huge_pages == expected


def test_more_sizes_than_there_can_be_do_not_make_it_slow(tmp_path: Path) -> None:
    sizes = {f"hugepages-{n}kB": "1" for n in range(1, 100)}
    assert _read(tmp_path, _LINES, sizes).huge_pages is not None


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_not(tmp_path_factory: pytest.TempPathFactory, text: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "meminfo"
    file.write_bytes(b"MemTotal:" + text + b"\nHugetlb:" + text)
    found = machine_memory(str(file), "/nowhere")
    assert all(one is None or 0 <= one <= INT64_MAX for one in found)
