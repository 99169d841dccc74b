"""How many processes there are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings import processes
from bailiff.agent.readings.cgroup import Cgroups
from bailiff.agent.readings.controllers import cgroups_of
from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.processes import processes_of_node, processes_of_pod
from bailiff.kinds.stats import ProcessStats, RlimitStats
from tests.unit.agent.readings.hosts import CONTAINER, SANDBOX, Host

NOW = datetime(2026, 11, 24, tzinfo=UTC)


def _cgroups(host: Host) -> Cgroups:
    found = cgroups_of(find_mounts(host.places()))
    assert found is not None
    return found


def test_as_many_may_run_as_the_lower_limit_says(tmp_path: Path) -> None:
    Host(tmp_path)
    expected = RlimitStats(time=NOW, maxpid=11633, curproc=3518)
    assert processes_of_node(f"{tmp_path}/proc", NOW) == expected


def test_one_limit_is_enough(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write("proc/sys/kernel/threads-max", "many")
    found = processes_of_node(f"{tmp_path}/proc", NOW)
    assert found is not None
    assert found.maxpid == 32768


@pytest.mark.parametrize("text", ["", "1 2 3 4", "1 2 3 4 5", "1 2 3 1/x 5", "1 2 3 1/-2 5"])
def test_a_malformed_loadavg_is_not_measured(tmp_path: Path, text: str) -> None:
    host = Host(tmp_path)
    host.write("proc/loadavg", text)
    found = processes_of_node(f"{tmp_path}/proc", NOW)
    assert found == RlimitStats(time=NOW, maxpid=11633)


def test_no_proc_is_not_measured(tmp_path: Path) -> None:
    assert processes_of_node(str(tmp_path / "none"), NOW) is None


@given(st.binary(max_size=60))
def test_any_loadavg_is_read_or_not(tmp_path_factory: pytest.TempPathFactory, text: bytes):
    folder = tmp_path_factory.getbasetemp()
    (folder / "loadavg").write_bytes(b"1 2 3 " + text)
    processes_of_node(str(folder), NOW)


@pytest.mark.parametrize("version", [1, 2])
def test_the_process_of_the_sandbox_does_not_count(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.pod("kubepods/pod1", processes=3)
    for known in ({CONTAINER}, set()):
        found = processes_of_pod(_cgroups(host), "/kubepods/pod1", known)
        assert found == ProcessStats(process_count=3)


def test_a_container_is_not_taken_for_the_sandbox(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (host.pod("pod") / SANDBOX / "cgroup.procs").unlink()
    (host.memory / "pod" / SANDBOX).rename(tmp_path / "elsewhere")
    found = processes_of_pod(_cgroups(host), "/pod", {CONTAINER})
    assert found == ProcessStats(process_count=1)


def test_of_two_that_are_not_known_one_is_the_sandbox(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.pod("pod")
    assert processes_of_pod(_cgroups(host), "/pod", ()) == ProcessStats(process_count=1)


def test_processes_below_a_container_and_of_the_pod_itself_count(tmp_path: Path) -> None:
    host = Host(tmp_path)
    pod = host.pod("pod", processes=3)
    host.write(pod / CONTAINER / "init.scope/cgroup.procs", "1\n2\n")
    host.write(pod / f"crio-conmon-{CONTAINER}.scope/cgroup.procs", "9\n")
    host.write(pod / "cgroup.procs", "7\n")
    found = processes_of_pod(_cgroups(host), "/pod", {CONTAINER})
    assert found == ProcessStats(process_count=6)


@pytest.mark.parametrize("version", [1, 2])
def test_where_a_list_cannot_be_read_all_tasks_count(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    pod = host.pod("kubepods/pod1")
    (pod / "cgroup.procs").unlink()
    cgroups = _cgroups(host)
    assert processes_of_pod(cgroups, "/kubepods/pod1", ()) is None
    at = "sys/fs/cgroup/pids" if version == 1 else "sys/fs/cgroup"
    host.write(f"{at}/kubepods/pod1/pids.current", "77\n")
    assert processes_of_pod(cgroups, "/kubepods/pod1", ()) == ProcessStats(process_count=77)


def test_a_list_that_is_too_long_is_not_counted(tmp_path: Path) -> None:
    host = Host(tmp_path)
    pod = host.cgroup("pod", processes=60_000)
    host.write(pod / "pids.current", "60000\n")
    found = processes_of_pod(_cgroups(host), "/pod", ())
    assert found == ProcessStats(process_count=60_000)


def test_a_pod_that_is_gone_is_not_measured(tmp_path: Path) -> None:
    assert processes._folders(str(tmp_path / "none")) == []
    assert processes_of_pod(_cgroups(Host(tmp_path)), "/gone", ()) is None


@pytest.mark.parametrize(("most", "expected"), [(3, 3), (2, 50)])
def test_more_cgroups_than_a_pod_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, expected: int
) -> None:
    monkeypatch.setattr(processes, "_MOST_CGROUPS", most)
    host = Host(tmp_path)
    host.write(host.pod("pod", processes=3) / "pids.current", "50\n")
    found = processes_of_pod(_cgroups(host), "/pod", ())
    assert found == ProcessStats(process_count=expected)
