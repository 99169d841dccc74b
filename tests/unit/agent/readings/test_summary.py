"""All of it: the same value that a kubelet's summary decodes to."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings import summary
from bailiff.agent.readings.pod_cgroups import PodCgroups
from bailiff.agent.readings.pods import Layer, PodOnNode
from bailiff.decisions.pressure.observations import observe
from bailiff.decisions.pressure.signals import Signal
from bailiff.kinds.stats import (
    MemoryStats,
    PodReference,
    PodStats,
    ProcessStats,
    Summary,
    SwapStats,
)
from tests.harness.fuzzing import fuzzed
from tests.unit.agent.readings.hosts import (
    CGROUPFS,
    CONTAINER,
    MIB,
    SANDBOX,
    STALLED,
    STATIC_UID,
    SYSTEMD,
    UID,
    full_host,
    readings_of,
)

NOW = datetime(2026, 11, 24, tzinfo=UTC)
POD = PodOnNode(UID, "default", "writer", {CONTAINER: "main"})
LAYERS = {CONTAINER: Layer(MIB, 10)}


def _pod(found: Summary, uid: str = UID) -> PodStats:
    return next(one for one in found.pods if one.pod_ref.uid == uid)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("path", [CGROUPFS, SYSTEMD, f"kubepods/pod{UID}"])
def test_a_pod_of_any_cgroups(tmp_path: Path, version: int, path: str) -> None:
    found = _pod(readings_of(full_host(tmp_path, version, path)).summary([POD], LAYERS, NOW))
    psi = STALLED if version == 2 else None
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


def test_a_pod_has_an_entry_if_it_runs_or_uses_something(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    pending, ended = PodOnNode("pending", "default", "a"), PodOnNode("ended", "default", "b")
    running = PodOnNode("running", "default", "c", {SANDBOX: "main"})
    readings = readings_of(host)
    found = readings.summary([pending, POD, ended, running], LAYERS, NOW)
    assert [one.pod_ref.uid for one in found.pods] == [UID, "running"]
    assert _pod(found, "running").memory is None
    assert (readings.is_there(UID), readings.is_there("running")) == (True, False)


def test_a_pod_is_there_as_long_as_it_has_volumes(tmp_path: Path) -> None:
    """The kubelet waits for those as well, which are deleted after the cgroup."""
    host = full_host(tmp_path)
    folder = "var/lib/kubelet/pods/gone/volumes/kubernetes.io~empty-dir/files"
    host.write(f"{folder}/file", "x")
    readings = readings_of(host)
    assert readings.is_there("gone") is True
    shutil.rmtree(tmp_path / folder)
    assert readings.is_there("gone") is False


def test_pods_that_nobody_tells_of_are_measured_and_named(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    host.pod(f"kubepods/burstable/pod{STATIC_UID}", usage=50 * MIB, inactive=0)
    (tmp_path / f"var/log/pods/kube-system_proxy_{STATIC_UID}").mkdir()
    found = readings_of(host).summary([], {}, NOW)
    assert [one.pod_ref for one in found.pods] == [
        PodReference(uid=UID),
        PodReference(uid=STATIC_UID, namespace="kube-system", name="proxy"),
    ]
    memory = _pod(found, STATIC_UID).memory
    assert memory is not None
    assert memory.working_set_bytes == 50 * MIB
    assert _pod(found, STATIC_UID).ephemeral_storage is None


def test_where_no_runtime_tells_of_containers_their_logs_do(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    for name, size in (("main", 5), ("side", 50)):
        host.write(f"var/log/pods/default_writer_{UID}/{name}/0.log", b"x" * size * 4096)
    host.write(f"var/log/pods/default_writer_{UID}/file", "no container")
    found = _pod(readings_of(host).summary([POD._replace(containers={})], {}, NOW))
    used = {one.name: (one.rootfs, one.logs and one.logs.used_bytes) for one in found.containers}
    assert used == {"main": (None, 5 * 4096), "side": (None, 50 * 4096)}
    assert found.memory is not None


def test_containers_whose_cgroups_are_gone(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    pod = POD._replace(containers={CONTAINER: "main", "other": "gone"})
    main, gone = _pod(readings_of(host).summary([pod], LAYERS, NOW)).containers
    assert main.memory is not None
    assert (gone.name, gone.memory, gone.rootfs) == ("gone", None, None)


def test_volumes_are_told_once_they_are_measured(tmp_path: Path) -> None:
    host = full_host(tmp_path)
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    readings = readings_of(host)
    before = _pod(readings.summary([POD], LAYERS, NOW))
    assert before.volume == ()
    assert before.ephemeral_storage is not None
    assert before.ephemeral_storage.used_bytes is None
    readings.measure_volumes([POD], 5.0, NOW)
    after = _pod(readings.summary([POD], LAYERS, NOW))
    assert [(one.name, one.inodes_used) for one in after.volume] == [("files", 2)]
    assert after.ephemeral_storage is not None
    assert after.ephemeral_storage.inodes_used == 12


def test_a_pod_that_vanishes_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = full_host(tmp_path)
    readings = readings_of(host)
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
    host = full_host(tmp_path)
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    host.write(f"var/log/pods/default_writer_{UID}/main/0.log", "x")
    readings = readings_of(host)
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
    found = observe(readings_of(full_host(tmp_path)).summary([POD], LAYERS, NOW))
    assert found.keys() == set(Signal)
    assert found[Signal.MEMORY_AVAILABLE].capacity == 1024 * MIB
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
                for folder in ("", "kubepods/", f"{CGROUPFS}/", f"{CGROUPFS}/{CONTAINER}/")
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
    host = full_host(tmp_path_factory.mktemp("any"))
    for name, text in files.items():
        host.write(name, text)
    readings = readings_of(host)
    found = readings.summary([POD], LAYERS, NOW)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Summary) == found
    observe(found)


def test_more_than_a_number_holds_is_not_measured(tmp_path: Path) -> None:
    readings = readings_of(full_host(tmp_path))
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
    host = full_host(tmp_path)
    readings = readings_of(host)
    at = iter([0, 0, 10**10, 10**10])
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(at))
    readings.summary([POD], LAYERS, NOW)
    host.write(host.memory / CGROUPFS / "cpu.stat", "usage_usec 10000000\n")
    host.write(host.memory / "cpu.stat", "usage_usec 11000000\n")
    found = readings.summary([POD], LAYERS, NOW)
    cpu = _pod(found).cpu
    assert cpu is not None
    assert found.node.cpu is not None
    assert (cpu.usage_nano_cores, found.node.cpu.usage_nano_cores) == (5 * 10**8, 10**9)
