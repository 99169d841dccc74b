"""A node's own numbers, read from this machine's kernel: cgroups, processes, file systems."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bailiff.agent.readings.disk_usage import Walk
from bailiff.agent.readings.file_systems import Usage, layout_of
from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import Places
from bailiff.agent.readings.pods import PodOnNode
from bailiff.agent.readings.summary import NodeReadings
from bailiff.agent.readings.volume_uses import VolumeUses
from bailiff.kinds.stats import Summary
from tests.harness.node_needs import needs, no_cgroups

MIB = 1024 * 1024
CONTAINER = uuid.uuid4().hex * 2

# Takes so many MiB that it has written to, reads a file of so many, and says so.
_EATER = """
import sys, time
held = bytearray(int(sys.argv[1]) * 1024 * 1024)
held[::4096] = b"x" * (len(held) // 4096)
if len(sys.argv) > 2:
    with open(sys.argv[2], "rb") as file:
        while file.read(1 << 20):
            pass
print("there", flush=True)
time.sleep(600)
"""


pytestmark = needs(no_cgroups())


@contextlib.contextmanager
def _cgroup(path: str) -> Iterator[Path]:
    """A cgroup of the memory controller; its parents have to be there."""
    mounts = find_mounts(Places())
    folder = Path(mounts.memory or mounts.unified or "") / path
    folder.mkdir()
    if mounts.memory is None:
        (folder.parent / "cgroup.subtree_control").write_text("+memory +pids")
    try:
        yield folder
    finally:
        _removed(folder)


def _removed(folder: Path) -> None:
    for _ in range(100):
        try:
            folder.rmdir()
        except OSError:
            # Its last process is not reaped yet.
            time.sleep(0.05)
        else:
            return
    folder.rmdir()


@contextlib.contextmanager
def _eater(cgroup: Path, mebibytes: int, file: str = "") -> Iterator[subprocess.Popen[str]]:
    """A process in a cgroup that holds so much memory, and has read a file."""
    arguments = [sys.executable, "-c", _EATER, str(mebibytes), *([file] if file else [])]
    join = f'echo $$ > {cgroup}/cgroup.procs && exec "$@"'
    with subprocess.Popen(
        ["/bin/sh", "-c", join, "sh", *arguments], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "there\n"
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def _node() -> Iterator[tuple[str, str, Path]]:
    """A cgroup as a node, with one of a pod and of its container: path, UID, the container's."""
    name, uid = f"bailiff-test-{uuid.uuid4().hex[:8]}", str(uuid.uuid4())
    with (
        _cgroup(name),
        _cgroup(f"{name}/pod{uid}"),
        _cgroup(f"{name}/pod{uid}/{CONTAINER}") as container,
    ):
        yield name, uid, container


def _summary(readings: NodeReadings, uid: str) -> Summary:
    pod = PodOnNode(uid, "default", "eater", {CONTAINER: "main"})
    return readings.summary([pod], {}, datetime.now(UTC))


def test_a_pod_that_takes_64_mib(tmp_path: Path) -> None:
    with _node() as (name, uid, container), _eater(container, 64):
        found = _summary(NodeReadings(Places(cgroup=name), "node"), uid)
        (pod,) = found.pods
        for memory in (pod.memory, pod.containers[0].memory, found.node.memory):
            assert memory is not None
            # What Python itself takes besides.
            assert 64 * MIB <= (memory.rss_bytes or 0) < 80 * MIB
            assert (memory.rss_bytes or 0) <= (memory.working_set_bytes or 0) < 84 * MIB
            assert (memory.working_set_bytes or 0) <= (memory.usage_bytes or 0)
        assert pod.process_stats is not None
        assert pod.process_stats.process_count == 1


def test_page_cache_is_usage_and_no_working_set(tmp_path: Path) -> None:
    kind = subprocess.run(
        ["stat", "-f", "-c", "%T", str(tmp_path)], capture_output=True, text=True, check=True
    )
    if kind.stdout.strip() == "tmpfs":
        pytest.skip("what is in a tmpfs is no page cache: needs a disk")
    file = tmp_path / "file"
    file.write_bytes(os.urandom(32 * MIB))
    subprocess.run(["sync", str(file)], check=True)
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with _node() as (name, uid, container), _eater(container, 8, str(file)):
        (pod,) = _summary(NodeReadings(Places(cgroup=name), "node"), uid).pods
        memory = pod.memory
        assert memory is not None
        assert (memory.usage_bytes or 0) - (memory.working_set_bytes or 0) >= 28 * MIB


def test_the_limit_of_the_node_s_cgroup_is_its_capacity() -> None:
    with _node() as (name, _uid, container), _eater(container, 16):
        node = container.parent.parent
        v1 = node / "memory.limit_in_bytes"
        (v1 if v1.exists() else node / "memory.max").write_text(str(128 * MIB))
        memory = NodeReadings(Places(cgroup=name), "node").whole_node(datetime.now(UTC)).memory
        assert memory is not None
        assert (memory.available_bytes or 0) + (memory.working_set_bytes or 0) == 128 * MIB


def test_where_all_cgroups_have_gone_nothing_is_known_of_a_pod() -> None:
    with _node() as (name, uid, _):
        readings = NodeReadings(Places(cgroup=name), "node")
        assert readings.is_there(uid)
    assert readings.is_there(uid) is None
    found = _summary(readings, uid)
    assert found.node.memory is None
    assert [one.memory for one in found.pods] == [None]


def test_this_machine_as_a_node() -> None:
    readings = NodeReadings(Places(kubelet_dir="/tmp"), "node")  # noqa: S108 - any folder
    found = readings.whole_node(datetime.now(UTC))
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    meminfo = {
        name: int(rest.split()[0]) * 1024 for name, rest in (one.split(":") for one in lines)
    }
    memory = found.memory
    assert memory is not None
    capacity = (memory.available_bytes or 0) + (memory.working_set_bytes or 0)
    assert capacity == meminfo["MemTotal"] - meminfo.get("Hugetlb", 0)
    # As the kernel sees it from the other side, within what it does not charge to anybody.
    available = readings.memory_available() or 0
    assert abs(available - meminfo["MemAvailable"]) < 64 * MIB
    assert found.rlimit is not None
    assert 0 < (found.rlimit.curproc or 0) < (found.rlimit.maxpid or 0)
    assert found.fs is not None
    assert found.fs.available_bytes


@contextlib.contextmanager
def _mounted(at: Path, kind: str, *options: str) -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", kind, *options, str(at)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"cannot mount {kind}: {done.stderr.strip()}")
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system of its own: in memory, or on a loop device."""
    if request.param == "tmpfs":
        with _mounted(tmp_path / "disk", "tmpfs", "-o", "size=64m", "tmpfs") as at:
            yield at
        return
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    made = subprocess.run(["mkfs.ext4", "-q", str(image)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("cannot make ext4")
    with _mounted(tmp_path / "disk", "ext4", "-o", "loop", str(image)) as at:
        yield at


def _counted(top: Path) -> Usage | None:
    walk = Walk(str(top))
    assert walk.go_on(float("inf"))
    return walk.usage


def _by_du(top: Path) -> Usage:
    def du(*options: str) -> int:
        done = subprocess.run(
            ["du", "-s", "-x", *options, str(top)], capture_output=True, text=True, check=True
        )
        return int(done.stdout.split()[0])

    return Usage(du("--block-size=1"), du("--inodes"))


def test_a_folder_takes_what_du_says(disk: Path, tmp_path: Path) -> None:
    top = disk / "top"
    for n in range(20):
        (top / f"{n}").mkdir(parents=True)
        (top / f"{n}/file").write_bytes(b"x" * n * 10_000)
        os.link(top / f"{n}/file", top / f"link-{n}")
    with (top / "holes").open("wb") as file:
        file.truncate(1024 * MIB)
    (top / "elsewhere").symlink_to(tmp_path)
    assert _counted(top) == _by_du(top)


def test_another_file_system_in_a_folder_is_left_out(disk: Path) -> None:
    top = disk / "top"
    top.mkdir()
    (top / "file").write_bytes(b"x" * 10_000)
    before = _counted(top)
    with _mounted(top / "inside", "tmpfs", "-o", "size=8m", "tmpfs") as inside:
        (inside / "file").write_bytes(b"x" * MIB)
        assert _counted(top) == before


def test_a_walk_that_pauses_keeps_no_folder_open(disk: Path) -> None:
    (disk / "a/b/c").mkdir(parents=True)
    walk = Walk(str(disk))
    assert not walk.go_on(0.0)
    # As the kubelet does when the pod goes: busy, if somebody had a folder open.
    subprocess.run(["umount", str(disk)], check=True)
    assert walk.go_on(float("inf"))
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(disk)], check=True)


def test_a_volume_in_memory_is_told_from_one_on_the_disk(tmp_path: Path) -> None:
    kind = tmp_path / "uid/volumes/kubernetes.io~empty-dir"
    (kind / "plain").mkdir(parents=True)
    with _mounted(kind / "memory", "tmpfs", "-o", "size=8m", "tmpfs") as inside:
        (inside / "file").write_bytes(b"x" * MIB)
        uses = VolumeUses(str(tmp_path))
        uses.measure(["uid"], 5.0, datetime.now(UTC))
        found = uses.of("uid")
    assert found is not None
    assert {name: use.on_disk for name, use in found.uses.items()} == {
        "plain": True,
        "memory": False,
    }
    assert found.uses["memory"].stats.used_bytes == MIB


def test_two_file_systems_are_two(disk: Path, tmp_path: Path) -> None:
    here, there = str(tmp_path), str(disk)
    found = layout_of(here, there, there)
    assert found is not None
    assert (found.dedicated_image_fs, found.split_container_image_fs) == (True, False)
    found = layout_of(here, there, here)
    assert found is not None
    assert (found.dedicated_image_fs, found.split_container_image_fs) == (True, True)
