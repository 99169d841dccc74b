"""All of it: the same value that a kubelet's summary decodes to."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings import summary
from bailiff.agent.readings.cgroup import UNKNOWN, MemoryUse
from bailiff.agent.readings.pod_cgroups import PodCgroups
from bailiff.agent.readings.pods import Layer, PodOnNode
from bailiff.agent.readings.summary import MemoryCgroups, NodeReadings
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.decisions.pressure.file_systems import derive_layout
from bailiff.decisions.pressure.observations import observe
from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.stats import (
    MemoryStats,
    NodeStats,
    PodReference,
    PodStats,
    ProcessStats,
    StallAverages,
    StallInformation,
    Summary,
    SwapStats,
)
from tests.harness.fuzzing import fuzzed
from tests.unit.agent.readings.hosts import CONTAINER, MIB, SANDBOX, STATIC_UID, UID, Host

NOW = datetime(2026, 11, 24, tzinfo=UTC)
POD = PodOnNode(UID, "default", "writer", {CONTAINER: "main"})
LAYERS = {CONTAINER: Layer(MIB, 10)}
_ESCAPED = UID.replace("-", "_")
_CGROUPFS = f"kubepods/burstable/pod{UID}"
_SYSTEMD = f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{_ESCAPED}.slice"
_STALLS = StallInformation(
    some=StallAverages(avg10=1.5, avg60=2.25, avg300=3.0),
    full=StallAverages(avg10=0.5, avg60=0.25, avg300=0.1),
)
GIB = 1024 * MIB


def _readings(host: Host, **settings: str) -> NodeReadings:
    return NodeReadings(host.places(**settings), "node")


def _full_host(tmp_path: Path, version: int = 2, path: str = _CGROUPFS) -> Host:
    host = Host(tmp_path, version)
    host.root_cgroup()
    host.cgroup(path.partition("/")[0], usage=300 * MIB, inactive=50 * MIB, limit=900 * MIB)
    systemd = path.endswith(".slice")
    host.pod(path, f"cri-containerd-{CONTAINER}.scope" if systemd else CONTAINER)
    return host


def _pod(found: Summary, uid: str = UID) -> PodStats:
    return next(one for one in found.pods if one.pod_ref.uid == uid)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("path", [_CGROUPFS, _SYSTEMD, f"kubepods/pod{UID}"])
def test_a_pod_of_any_cgroups(tmp_path: Path, version: int, path: str) -> None:
    found = _pod(_readings(_full_host(tmp_path, version, path)).summary([POD], LAYERS, NOW))
    psi = _STALLS if version == 2 else None
    expected = MemoryStats(
        time=NOW,
        usage_bytes=100 * MIB,
        working_set_bytes=70 * MIB,
        rss_bytes=40 * MIB,
    )
    assert found.pod_ref == PodReference(name="writer", namespace="default", uid=UID)
    assert found.memory == msgspec.structs.replace(expected, psi=psi)
    assert found.process_stats == ProcessStats(process_count=1)
    assert found.swap == SwapStats(time=NOW, swap_usage_bytes=0)
    (container,) = found.containers
    assert (container.name, container.memory) == ("main", expected)
    assert container.rootfs is not None
    assert container.rootfs.used_bytes == MIB
    assert (found.cpu and found.cpu.psi, found.io and found.io.psi) == (psi, psi)


@pytest.mark.parametrize("version", [1, 2])
def test_the_node_as_a_whole(tmp_path: Path, version: int) -> None:
    found = _readings(_full_host(tmp_path, version)).summary([], {}, NOW).node
    assert found.node_name == "node"
    assert found.memory == MemoryStats(
        time=NOW,
        available_bytes=GIB - 500 * MIB,
        usage_bytes=600 * MIB,
        working_set_bytes=500 * MIB,
        rss_bytes=200 * MIB,
        psi=_STALLS,
    )
    (pods,) = found.system_containers
    assert pods.name == "pods"
    assert pods.memory is not None
    assert pods.memory.available_bytes == 650 * MIB
    assert found.swap == SwapStats(
        time=NOW, swap_available_bytes=100 * MIB, swap_usage_bytes=100 * MIB
    )
    assert found.cpu is not None
    assert found.cpu.psi == _STALLS
    assert found.io is not None
    assert found.io.psi == _STALLS
    assert found.fs is not None
    assert found.fs.capacity_bytes


def test_the_fast_path_tells_the_same_of_memory(tmp_path: Path) -> None:
    readings = _readings(_full_host(tmp_path))
    whole = readings.whole_node(NOW)
    assert readings.node(NOW) == NodeStats(node_name="node", memory=whole.memory)
    assert readings.memory_usage() == MemoryUse(600 * MIB, 500 * MIB, 200 * MIB)
    assert readings.memory_available() == 512 * MIB


def test_huge_pages_are_not_available(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    text = (tmp_path / "proc/meminfo").read_text()
    for kibibytes, available in ((204800, 324 * MIB), (2048000, 0)):
        set_aside = f"Hugetlb: {kibibytes} kB"
        host.write("proc/meminfo", text.replace("Hugetlb:              0 kB", set_aside))
        memory = _readings(host).node(NOW).memory
        assert memory is not None
        assert memory.available_bytes == available


@pytest.mark.parametrize("version", [1, 2])
def test_another_cgroup_as_the_node(tmp_path: Path, version: int) -> None:
    host = Host(tmp_path, version)
    host.root_cgroup()
    host.cgroup("some/path", usage=200 * MIB, inactive=50 * MIB, limit=400 * MIB, swap=MIB)
    host.pod(f"some/path/pod{UID}")
    host.pod(f"kubepods/pod{STATIC_UID}")
    readings = _readings(host, cgroup="/some/path")
    found = readings.summary([POD], LAYERS, NOW)
    assert found.node.memory is not None
    assert found.node.memory.available_bytes == 250 * MIB
    assert found.node.memory.psi == (_STALLS if version == 2 else None)
    assert found.node.swap == SwapStats(
        time=NOW, swap_usage_bytes=MIB, swap_available_bytes=100 * MIB
    )
    assert found.node.system_containers == ()
    assert [one.pod_ref.uid for one in found.pods] == [UID]
    assert readings.memory_available() is None


def test_a_limit_above_what_the_machine_has_is_none(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.cgroup("node", usage=100 * MIB, inactive=0, limit=2 * GIB)
    memory = _readings(host, cgroup="node").node(NOW).memory
    assert memory is not None
    assert memory.available_bytes == GIB - 100 * MIB


def test_where_the_limit_is_not_known_nothing_is_available(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (host.cgroup("node") / "memory.max").unlink()
    memory = _readings(host, cgroup="node").node(NOW).memory
    assert memory is not None
    assert (memory.available_bytes, memory.working_set_bytes) == (None, 70 * MIB)


def test_without_meminfo_nothing_is_available(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    (tmp_path / "proc/meminfo").unlink()
    found = _readings(host).whole_node(NOW)
    assert found.memory is not None
    assert (found.memory.available_bytes, found.memory.working_set_bytes) == (None, 500 * MIB)
    assert found.swap is None


def test_more_free_swap_than_there_is_is_not_measured(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    host.write("proc/meminfo", "MemTotal: 1 kB\nSwapTotal: 1 kB\nSwapFree: 2 kB\n")
    assert _readings(host).whole_node(NOW).swap is None


def test_the_same_machine_in_a_container_without_cgroups(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.write("mountinfo", "")
    readings = _readings(host)
    found = readings.summary([POD], LAYERS, NOW)
    assert found.node.memory is None
    assert found.node.rlimit is not None
    assert found.node.swap is not None
    assert found.node.system_containers == ()
    assert _pod(found).memory is None
    assert readings.memory_usage() == UNKNOWN
    assert readings.is_there(UID) is None
    assert readings.memory_cgroups() == MemoryCgroups(
        None, None, unified=False, pressure=tmp_path / "proc/pressure/memory"
    )


def test_a_pod_has_an_entry_if_it_runs_or_uses_something(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    pending, ended = PodOnNode("pending", "default", "a"), PodOnNode("ended", "default", "b")
    running = PodOnNode("running", "default", "c", {SANDBOX: "main"})
    readings = _readings(host)
    found = readings.summary([pending, POD, ended, running], LAYERS, NOW)
    assert [one.pod_ref.uid for one in found.pods] == [UID, "running"]
    assert _pod(found, "running").memory is None
    assert (readings.is_there(UID), readings.is_there("running")) == (True, False)


def test_pods_that_nobody_tells_of_are_measured_and_named(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    host.pod(f"kubepods/burstable/pod{STATIC_UID}", usage=50 * MIB, inactive=0)
    (tmp_path / f"var/log/pods/kube-system_proxy_{STATIC_UID}").mkdir()
    found = _readings(host).summary([], {}, NOW)
    assert [one.pod_ref for one in found.pods] == [
        PodReference(uid=UID),
        PodReference(uid=STATIC_UID, namespace="kube-system", name="proxy"),
    ]
    memory = _pod(found, STATIC_UID).memory
    assert memory is not None
    assert memory.working_set_bytes == 50 * MIB
    assert _pod(found, STATIC_UID).ephemeral_storage is None


def test_containers_whose_cgroups_are_gone(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    pod = POD._replace(containers={CONTAINER: "main", "other": "gone"})
    main, gone = _pod(_readings(host).summary([pod], LAYERS, NOW)).containers
    assert main.memory is not None
    assert (gone.name, gone.memory, gone.rootfs) == ("gone", None, None)


def test_volumes_are_told_once_they_are_measured(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    readings = _readings(host)
    before = _pod(readings.summary([POD], LAYERS, NOW))
    assert before.volume == ()
    assert before.ephemeral_storage is not None
    assert before.ephemeral_storage.used_bytes is None
    readings.measure_volumes([POD], 5.0, NOW)
    after = _pod(readings.summary([POD], LAYERS, NOW))
    assert [(one.name, one.inodes_used) for one in after.volume] == [("files", 2)]
    assert after.ephemeral_storage is not None
    assert after.ephemeral_storage.inodes_used == 12


def test_the_layout_is_by_device(tmp_path: Path) -> None:
    host = Host(tmp_path)
    assert _readings(host).layout() == FileSystemLayout()
    assert _readings(host, image_dir="/none").layout() is None
    found = _readings(host).summary([], {}, NOW)
    assert derive_layout(found) == FileSystemLayout()


@pytest.mark.parametrize("version", [1, 2])
def test_where_the_kernel_can_be_asked(tmp_path: Path, version: int) -> None:
    host = _full_host(tmp_path, version)
    assert _readings(host).memory_cgroups() == MemoryCgroups(
        node=host.memory,
        pods=host.memory / "kubepods",
        unified=version == 2,
        pressure=tmp_path / "proc/pressure/memory",
    )


def test_where_the_kernel_can_be_asked_about_another_cgroup(tmp_path: Path) -> None:
    host = Host(tmp_path)
    folder = host.cgroup("some/path")
    found = _readings(host, cgroup="some/path").memory_cgroups()
    assert found == MemoryCgroups(folder, None, unified=True, pressure=folder / "memory.pressure")
    (folder / "memory.pressure").unlink()
    assert _readings(host, cgroup="some/path").memory_cgroups().pressure is None


def test_a_pod_that_vanishes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = _full_host(tmp_path)
    readings = _readings(host)
    gone = PodCgroups("/kubepods-gone", {UID: "/kubepods/gone"})
    monkeypatch.setattr(summary, "pod_cgroups", lambda *_: gone)
    found = readings.summary([POD], LAYERS, NOW)
    assert _pod(found).memory is None
    assert _pod(found).process_stats is None
    assert found.node.system_containers == ()


def _recorded() -> Summary:
    with gzip.open("tests/cases/real_node/storage.jsonl.gz", "rt") as lines:
        values = [one["value"] for one in map(json.loads, lines) if one["kind"] == "summary"]
    # With a volume, and with all that the last round tells.
    whole = next(one for one in values if any("volume" in pod for pod in one["pods"]))
    return msgspec.convert(whole, Summary)


def _fields(value: object, path: str = "") -> Iterator[str]:
    """Which fields something has, whatever they say."""
    if isinstance(value, tuple):
        for one in value:
            yield from _fields(one, path)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _fields(getattr(value, name), f"{path}.{name}")
    elif value is not None:
        yield path


def test_what_a_real_kubelet_tells_is_told(tmp_path: Path) -> None:
    host = _full_host(tmp_path)
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    host.write(f"var/log/pods/default_writer_{UID}/main/0.log", "x")
    readings = _readings(host)
    readings.measure_volumes([POD], 5.0, NOW)
    ours = set(_fields(readings.summary([POD], LAYERS, NOW)))
    theirs = set(_fields(_recorded()))
    # The bytes of images and layers are the container runtime's to tell; no rule reads them, nor
    # for how long a container waited for memory. The CPU in use takes two readings.
    left_out = {
        *(
            f".node.runtime.{fs}.{name}"
            for fs in ("image_fs", "container_fs")
            for name in ("used_bytes", "inodes_used")
        ),
        *(
            f".pods.containers.memory.psi.{kind}.{window}"
            for kind in ("some", "full")
            for window in ("avg10", "avg60", "avg300")
        ),
        ".node.cpu.usage_nano_cores",
        ".pods.cpu.usage_nano_cores",
    }
    assert theirs - ours <= left_out
    # Theirs had no swap.
    assert ours - theirs <= {".pods.memory.available_bytes"}


def test_the_core_reads_every_signal(tmp_path: Path) -> None:
    found = observe(_readings(_full_host(tmp_path)).summary([POD], LAYERS, NOW))
    assert found.keys() == set(Signal)
    assert found[Signal.MEMORY_AVAILABLE].capacity == GIB
    assert found[Signal.PID_AVAILABLE].available == 11633 - 3518


_FILES = st.dictionaries(
    st.sampled_from(
        [
            "proc/meminfo",
            "proc/loadavg",
            "proc/pressure/memory",
            "proc/sys/kernel/pid_max",
            *(
                f"sys/fs/cgroup/{folder}{name}"
                for folder in ("", "kubepods/", f"{_CGROUPFS}/", f"{_CGROUPFS}/{CONTAINER}/")
                for name in (
                    "memory.current",
                    "memory.stat",
                    "memory.max",
                    "memory.swap.current",
                    "cgroup.procs",
                    "cpu.stat",
                    "io.pressure",
                )
            ),
        ]
    ),
    st.one_of(
        st.binary(max_size=50),
        st.just(b"x" * 100_000),
        st.integers(-(2**64), 2**65).map(lambda one: b"%d\n" % one),
        st.integers(-(2**64), 2**65).map(lambda one: b"anon %d\ninactive_file %d\n" % (one, one)),
        st.integers(-(2**64), 2**65).map(lambda one: b"MemTotal: %d kB\n" % one),
    ),
)


@fuzzed(200)
@given(_FILES)
def test_whatever_files_say_the_summary_is_one_that_decodes(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    host = _full_host(tmp_path_factory.mktemp("any"))
    for name, text in files.items():
        host.write(name, text)
    readings = _readings(host)
    found = readings.summary([POD], LAYERS, NOW)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Summary) == found
    observe(found)


def test_more_than_a_number_holds_is_not_measured(tmp_path: Path) -> None:
    readings = _readings(_full_host(tmp_path))
    other = "b" * 64
    pod = POD._replace(containers={CONTAINER: "main", other: "other"})
    layers = {CONTAINER: Layer(2**63 - 1, 1), other: Layer(2**63, 2**64)}
    found = readings.summary([pod], layers, NOW)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Summary) == found
    main, second = _pod(found).containers
    assert main.rootfs is not None
    assert second.rootfs is not None
    assert (main.rootfs.used_bytes, second.rootfs.used_bytes) == (2**63 - 1, None)
    storage = _pod(found).ephemeral_storage
    assert storage is not None
    assert (storage.used_bytes, storage.inodes_used) == (None, None)


def test_the_cpu_in_use_is_that_between_two_summaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = _full_host(tmp_path)
    readings = _readings(host)
    at = iter([0, 0, 10**10, 10**10])
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(at))
    readings.summary([POD], LAYERS, NOW)
    host.write(host.memory / _CGROUPFS / "cpu.stat", "usage_usec 10000000\n")
    host.write(host.memory / "cpu.stat", "usage_usec 11000000\n")
    found = readings.summary([POD], LAYERS, NOW)
    cpu = _pod(found).cpu
    assert cpu is not None
    assert found.node.cpu is not None
    assert (cpu.usage_nano_cores, found.node.cpu.usage_nano_cores) == (5 * 10**8, 10**9)
