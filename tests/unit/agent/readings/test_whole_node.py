"""What the node as a whole has and uses, and where the kernel can be asked about it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bailiff.agent.readings.pods import Layer, PodOnNode
from bailiff.agent.readings.summary import MemoryCgroups
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.kinds.stats import (
    MemoryStats,
    SwapStats,
)
from tests.unit.agent.readings.hosts import (
    CONTAINER,
    MIB,
    STALLED,
    STATIC_UID,
    UID,
    Host,
    full_host,
    readings_of,
)

NOW = datetime(2026, 11, 24, tzinfo=UTC)
GIB = 1024 * MIB
POD = PodOnNode(UID, "default", "writer", {CONTAINER: "main"})
LAYERS = {CONTAINER: Layer(MIB, 10)}


@pytest.mark.parametrize("version", [1, 2])
def test_the_node_as_a_whole(tmp_path: Path, version: int) -> None:
    found = readings_of(full_host(tmp_path, version)).summary([], {}, NOW).node
    assert found.node_name == "node"
    assert found.memory == MemoryStats(
        time=NOW,
        available_bytes=GIB - 500 * MIB,
        usage_bytes=600 * MIB,
        working_set_bytes=500 * MIB,
        rss_bytes=200 * MIB,
        psi=STALLED,
    )
    (pods,) = found.system_containers
    assert pods.name == "pods"
    assert pods.memory is not None
    assert pods.memory.available_bytes == 650 * MIB
    assert found.swap == SwapStats(
        time=NOW, swap_available_bytes=100 * MIB, swap_usage_bytes=100 * MIB
    )
    assert found.cpu is not None
    assert found.cpu.psi == STALLED
    assert found.io is not None
    assert found.io.psi == STALLED
    assert found.fs is not None
    assert found.fs.capacity_bytes


def test_what_the_kernel_estimates(tmp_path: Path) -> None:
    assert readings_of(full_host(tmp_path)).memory_available() == 512 * MIB


def test_huge_pages_are_not_available(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    text = (tmp_path / "proc/meminfo").read_text()
    for kibibytes, available in ((204800, 324 * MIB), (2048000, 0)):
        set_aside = f"Hugetlb: {kibibytes} kB"
        host.write("proc/meminfo", text.replace("Hugetlb:              0 kB", set_aside))
        memory = readings_of(host).whole_node(NOW).memory
        assert memory is not None
        assert memory.available_bytes == available


@pytest.mark.parametrize("version", [1, 2])
def test_another_cgroup_as_the_node(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.root_cgroup()
    host.cgroup("some/path", usage=200 * MIB, inactive=50 * MIB, limit=400 * MIB, swap=MIB)
    host.pod(f"some/path/pod{UID}")
    host.pod(f"kubepods/pod{STATIC_UID}")
    readings = readings_of(host, cgroup="/some/path")
    found = readings.summary([POD], LAYERS, NOW)
    assert found.node.memory is not None
    assert found.node.memory.available_bytes == 250 * MIB
    assert found.node.memory.psi == (STALLED if version == 2 else None)
    assert found.node.swap == SwapStats(
        time=NOW, swap_usage_bytes=MIB, swap_available_bytes=100 * MIB
    )
    assert found.node.system_containers == ()
    assert [one.pod_ref.uid for one in found.pods] == [UID]
    assert readings.memory_available() is None


def test_a_limit_above_what_the_machine_has_is_none(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.cgroup("node", usage=100 * MIB, inactive=0, limit=2 * GIB)
    memory = readings_of(host, cgroup="node").whole_node(NOW).memory
    assert memory is not None
    assert memory.available_bytes == GIB - 100 * MIB


def test_where_the_limit_is_not_known_nothing_is_available(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (host.cgroup("node") / "memory.max").unlink()
    memory = readings_of(host, cgroup="node").whole_node(NOW).memory
    assert memory is not None
    assert (memory.available_bytes, memory.working_set_bytes) == (None, 70 * MIB)


def test_without_meminfo_nothing_is_available(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    (tmp_path / "proc/meminfo").unlink()
    found = readings_of(host).whole_node(NOW)
    assert found.memory is not None
    assert (found.memory.available_bytes, found.memory.working_set_bytes) == (None, 500 * MIB)
    assert found.swap is None


def test_more_free_swap_than_there_is_is_not_measured(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    host.write("proc/meminfo", "MemTotal: 1 kB\nSwapTotal: 1 kB\nSwapFree: 2 kB\n")
    assert readings_of(host).whole_node(NOW).swap is None


def test_the_same_machine_in_a_container_without_cgroups(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write("mountinfo", "")
    readings = readings_of(host)
    found = readings.summary([POD], LAYERS, NOW)
    assert found.node.memory is None
    assert found.node.rlimit is not None
    assert found.node.swap is not None
    assert found.node.system_containers == ()
    assert [one.memory for one in found.pods] == [None]
    assert readings.is_there(UID) is None
    assert readings.memory_cgroups() == MemoryCgroups(
        None, None, unified=False, pressure=(tmp_path / "proc/pressure/memory",)
    )


def test_the_layout_is_by_device(tmp_path: Path) -> None:
    host = Host(tmp_path)
    assert readings_of(host).layout() == FileSystemLayout()
    assert readings_of(host, image_dir="/none").layout() is None
    found = readings_of(host).summary([], {}, NOW)
    assert derive_layout(found) == FileSystemLayout()


@pytest.mark.parametrize("version", [1, 2])
def test_where_the_kernel_can_be_asked(tmp_path: Path, version: int) -> None:
    host = full_host(tmp_path, version)
    of_machine = tmp_path / "proc/pressure/memory"
    of_root = (host.memory / "memory.pressure",) if version == 2 else ()
    assert readings_of(host).memory_cgroups() == MemoryCgroups(
        node=host.memory,
        pods=host.memory / "kubepods",
        unified=version == 2,
        pressure=(*of_root, of_machine),
    )


def test_where_the_kernel_can_be_asked_about_another_cgroup(tmp_path: Path) -> None:
    host = Host(tmp_path)
    folder = host.cgroup("some/path")
    found = readings_of(host, cgroup="some/path").memory_cgroups()
    assert found == MemoryCgroups(
        folder, None, unified=True, pressure=(folder / "memory.pressure",)
    )
    (folder / "memory.pressure").unlink()
    assert readings_of(host, cgroup="some/path").memory_cgroups().pressure == ()
