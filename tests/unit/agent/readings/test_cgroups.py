"""What is read of cgroups of either version: by the rules of cadvisor."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings.cgroup import (
    NO_LIMIT,
    UNKNOWN,
    Cgroups,
    MemoryUse,
    as_limit,
    left,
    working_set,
)
from bailiff.agent.readings.cgroup_v2 import CgroupsV2
from bailiff.agent.readings.controllers import cgroups_of
from bailiff.agent.readings.mounts import find_mounts
from bailiff.kinds.meta import INT64_MAX
from tests.unit.agent.readings.hosts import MIB, Host

_ALL = [1, 2]


def _cgroups(host: Host) -> Cgroups:
    found = cgroups_of(find_mounts(host.places()))
    assert found is not None
    return found


@pytest.mark.parametrize("version", _ALL)
def test_the_working_set_leaves_inactive_page_cache_out(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.cgroup("some/pod", usage=100 * MIB, inactive=30 * MIB, rss=40 * MIB, swap=MIB)
    expected = MemoryUse(100 * MIB, 70 * MIB, 40 * MIB, MIB)
    assert _cgroups(host).memory("/some/pod") == expected


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("version", _ALL)
def test_page_cache_that_was_read_twice_counts_if_it_is_to(
    tmp_path: Path, version: int, counts: bool
) -> None:
    host = Host(tmp_path, version)
    folder = host.cgroup("pod", usage=100 * MIB, inactive=30 * MIB)
    name = "total_active_file" if version == 1 else "active_file"
    with (folder / "memory.stat").open("a") as stat:
        stat.write(f"{name} {20 * MIB}\n")
    cgroups = cgroups_of(find_mounts(host.places()), active_cache_counts=counts)
    assert cgroups is not None
    assert cgroups.memory("/pod").working_set == (70 if counts else 50) * MIB


@pytest.mark.parametrize("version", _ALL)
def test_a_working_set_is_never_negative(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.cgroup("pod", usage=MIB, inactive=2 * MIB)
    assert _cgroups(host).memory("/pod").working_set == 0


@pytest.mark.parametrize("version", _ALL)
def test_a_cgroup_that_is_gone_is_not_measured(tmp_path: Path, version: int) -> None:
    cgroups = _cgroups(Host(tmp_path, version))
    assert cgroups.memory("/gone") == UNKNOWN
    assert cgroups.limit("/gone") is None
    assert cgroups.swap_left("/gone") is None
    assert cgroups.cpu_time("/gone") is None
    assert cgroups.tasks("/gone") is None


@pytest.mark.parametrize("version", _ALL)
def test_without_memory_stat_only_usage_is_known(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    folder = host.cgroup("pod")
    (folder / "memory.stat").unlink()
    assert _cgroups(host).memory("/pod") == MemoryUse(100 * MIB)


@pytest.mark.parametrize("version", _ALL)
def test_limits(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.cgroup("free")
    host.cgroup("bound", limit=200 * MIB)
    cgroups = _cgroups(host)
    assert cgroups.limit("/free") == NO_LIMIT
    assert cgroups.limit("/bound") == 200 * MIB


@pytest.mark.parametrize("version", _ALL)
@pytest.mark.parametrize("text", ["", "-1", "maximum", "9223372036854775808"])
def test_a_limit_that_is_none_is_not_measured(tmp_path: Path, version: int, text: str) -> None:
    host = Host(tmp_path, version)
    folder = host.cgroup("pod")
    host.write(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes"), text)
    assert _cgroups(host).limit("/pod") is None


def test_the_root_of_v2_has_no_limit_and_tells_what_it_uses_by_its_parts(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.root_cgroup(usage=600 * MIB, inactive=100 * MIB)
    cgroups = _cgroups(host)
    assert cgroups.memory("") == MemoryUse(600 * MIB, 500 * MIB, 200 * MIB)
    assert cgroups.limit("") == cgroups.swap_left("") == NO_LIMIT


def test_only_the_root_of_v2_is_told_by_its_parts(tmp_path: Path) -> None:
    host = Host(tmp_path)
    folder = host.cgroup("pod")
    (folder / "memory.current").unlink()
    found = _cgroups(host).memory("/pod")
    assert (found.usage, found.working_set) == (None, None)


def test_the_root_in_a_cgroup_namespace_tells_as_any_other(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.cgroup("", usage=100 * MIB, inactive=30 * MIB, limit=200 * MIB)
    cgroups = _cgroups(host)
    assert cgroups.memory("").working_set == 70 * MIB
    assert cgroups.limit("") == 200 * MIB


def test_a_root_of_v2_without_its_parts_is_not_measured(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write(host.memory / "memory.stat", "anon 5\n")
    assert _cgroups(host).memory("").usage is None


def test_swap_that_is_left_by_v2(tmp_path: Path) -> None:
    host = Host(tmp_path)
    folder = host.cgroup("pod", swap=MIB)
    cgroups = _cgroups(host)
    assert cgroups.swap_left("/pod") == NO_LIMIT
    host.write(folder / "memory.swap.max", str(3 * MIB))
    assert cgroups.swap_left("/pod") == 2 * MIB


def test_swap_that_is_left_by_v1_is_what_memory_and_swap_leave_together(tmp_path: Path) -> None:
    host = Host(tmp_path, 1)
    folder = host.cgroup("pod", usage=4 * MIB, swap=MIB)
    cgroups = _cgroups(host)
    assert cgroups.swap_left("/pod") == NO_LIMIT
    host.write(folder / "memory.memsw.limit_in_bytes", str(8 * MIB))
    assert cgroups.swap_left("/pod") == 3 * MIB


@pytest.mark.parametrize("version", _ALL)
def test_time_on_the_cpu_is_in_nanoseconds(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.cgroup("pod", cpu=5_000_000_000)
    assert _cgroups(host).cpu_time("/pod") == 5_000_000_000


def test_more_time_than_a_number_holds_is_not_measured(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write(host.cgroup("pod") / "cpu.stat", f"usage_usec {INT64_MAX}\n")
    assert _cgroups(host).cpu_time("/pod") is None


def test_controllers_of_v1_that_are_not_mounted_tell_nothing(tmp_path: Path) -> None:
    host = Host(tmp_path, 1)
    host.cgroup("pod")
    mounts = find_mounts(host.places())._replace(cpuacct=None, pids=None, unified=None)
    cgroups = cgroups_of(mounts)
    assert cgroups is not None
    assert not cgroups.unified
    assert cgroups.cpu_time("/pod") is cgroups.tasks("/pod") is None
    assert cgroups.stall_file("/pod", "memory") is None


def test_stalls_beside_v1_are_those_of_v2(tmp_path: Path) -> None:
    host = Host(tmp_path, 1)
    file = f"{tmp_path}/sys/fs/cgroup/unified/pod/io.pressure"
    assert _cgroups(host).stall_file("/pod", "io") == file


def test_a_large_limit_is_none() -> None:
    assert as_limit(2**62 + 1) == NO_LIMIT
    assert as_limit(2**62) == 2**62
    assert as_limit(None) is None


def test_what_is_left_goes_down_to_zero() -> None:
    assert left(5, 9) == 0
    assert left(9, 5) == 4
    assert left(None, 5) is None
    assert left(9, None) is None
    assert left(NO_LIMIT, None) == NO_LIMIT


def test_a_working_set_needs_both_numbers() -> None:
    assert working_set(None, 1) is working_set(1, None) is None


@given(stat=st.binary(max_size=200), number=st.binary(max_size=30))
def test_any_bytes_are_a_reading(
    tmp_path_factory: pytest.TempPathFactory, stat: bytes, number: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    for name in ("memory.stat", "cpu.stat"):
        (folder / name).write_bytes(b"anon " + number + b"\nfile 1\ninactive_file " + stat)
    for name in ("memory.current", "memory.max", "memory.swap.max", "memory.swap.current"):
        (folder / name).write_bytes(number)
    cgroups = CgroupsV2(str(folder))
    found = [*cgroups.memory(""), cgroups.limit(""), cgroups.swap_left(""), cgroups.cpu_time("")]
    assert all(one is None or 0 <= one <= INT64_MAX for one in found)
