"""What a pod takes on the node's disk: layers, logs, volumes; all of it or nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bailiff.agent.readings import logs
from bailiff.agent.readings.disk_usage import Bounds
from bailiff.agent.readings.file_systems import NOTHING, Usage
from bailiff.agent.readings.logs import PodName, file, files_in, log_folder, names_by_uid
from bailiff.agent.readings.pod_disk import Disks, PodDisk, PodDisks
from bailiff.agent.readings.pods import Layer, PodOnNode
from bailiff.agent.readings.volume_uses import VolumeUse, VolumeUses
from bailiff.kinds.stats import FsStats
from tests.unit.agent.readings.hosts import CONTAINER, MIB, STATIC_UID, UID, Host

NOW = datetime(2026, 11, 24, tzinfo=UTC)
POD = PodOnNode(UID, "default", "writer", {CONTAINER: "main"})
_NODE, _LAYERS = FsStats(capacity_bytes=100), FsStats(capacity_bytes=200)
_LOGS = f"var/log/pods/default_writer_{UID}"


def _blocks(*paths: Path) -> int:
    return sum(one.lstat().st_blocks for one in paths) * 512


def _read(
    host: Host, pod: PodOnNode = POD, layers: dict[str, Layer] | None = None, bounds: int = 100
) -> PodDisk:
    uses = VolumeUses(str(host.root / "var/lib/kubelet/pods"), Bounds(inodes=bounds))
    uses.measure([UID], 5.0, NOW)
    given = {CONTAINER: Layer(MIB, 10)} if layers is None else layers
    return PodDisks(host.places(), Disks(_NODE, _LAYERS), given, NOW).of(pod, uses.of(UID))


def _all(host: Host) -> list[Path]:
    """Everything but the layer that a pod may take."""
    host.write(f"{_LOGS}/main/0.log", "x" * 5000)
    host.write(f"{_LOGS}/main/1.log", "x" * 50_000)
    host.write(f"{_LOGS}/of-pod", "x" * 5000)
    host.write(f"var/lib/kubelet/pods/{UID}/etc-hosts", "127.0.0.1 localhost")
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    folder = host.root / f"var/lib/kubelet/pods/{UID}"
    return [
        *(host.root / _LOGS / one for one in ("main/0.log", "main/1.log", "of-pod")),
        folder / "etc-hosts",
        *(folder / "volumes/kubernetes.io~empty-dir/files").rglob("*"),
        folder / "volumes/kubernetes.io~empty-dir/files",
    ]


def test_all_parts_are_added_up(tmp_path: Path) -> None:
    host = Host(tmp_path)
    paths = _all(host)
    found = _read(host)
    assert found.ephemeral_storage == FsStats(
        time=NOW,
        capacity_bytes=100,
        used_bytes=MIB + _blocks(*paths),
        inodes_used=10 + len(paths),
    )
    container = found.containers[CONTAINER]
    assert container.rootfs == FsStats(time=NOW, capacity_bytes=200, used_bytes=MIB, inodes_used=10)
    assert container.logs == FsStats(
        time=NOW, capacity_bytes=100, used_bytes=_blocks(*paths[:2]), inodes_used=2
    )


def test_a_pod_that_has_written_nothing(tmp_path: Path) -> None:
    found = _read(Host(tmp_path))
    assert (found.ephemeral_storage.used_bytes, found.ephemeral_storage.inodes_used) == (MIB, 10)


def test_without_one_part_the_sum_is_not_told(tmp_path: Path) -> None:
    host = Host(tmp_path)
    _all(host)
    without = [
        _read(host, layers={}),
        _read(host, POD._replace(containers={})),
        _read(host, POD._replace(name="")),
        _read(host, POD._replace(name="../..")),
        _read(host, POD._replace(containers={CONTAINER: "../main"})),
        _read(host, bounds=1),
    ]
    for found in without:
        assert found.ephemeral_storage == FsStats(time=NOW, capacity_bytes=100)


def test_a_folder_that_is_not_seen_is_no_folder_with_nothing_in_it(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (tmp_path / "var/log/pods").rmdir()
    found = _read(host)
    assert found.containers[CONTAINER].logs is None
    assert found.ephemeral_storage.used_bytes is None


def test_a_volume_in_memory_is_not_on_the_disk(tmp_path: Path) -> None:
    host = Host(tmp_path)
    _all(host)
    uses = VolumeUses(str(tmp_path / "var/lib/kubelet/pods"))
    uses.measure([UID], 5.0, NOW)
    volumes = uses.of(UID)
    assert volumes is not None
    stats = volumes.uses["files"].stats
    in_memory = volumes._replace(uses={"files": VolumeUse(stats, on_disk=False)})
    disks = PodDisks(host.places(), Disks(_NODE, None), {CONTAINER: Layer(0, 0)}, NOW)
    with_it, without = disks.of(POD, volumes), disks.of(POD, in_memory)
    assert stats.used_bytes
    assert with_it.ephemeral_storage.used_bytes == stats.used_bytes + (
        without.ephemeral_storage.used_bytes or 0
    )


def test_logs_are_files_and_no_folders(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/0.log").write_bytes(b"x" * 5000)
    (tmp_path / "0.log").write_bytes(b"x" * 5000)
    os.link(tmp_path / "0.log", tmp_path / "same.log")
    (tmp_path / "link").symlink_to("/")
    assert files_in(str(tmp_path)) == Usage(_blocks(tmp_path / "0.log", tmp_path / "link"), 2)
    assert files_in(str(tmp_path / "none")) == NOTHING
    assert files_in(str(tmp_path / "0.log")) is None
    assert files_in("\0") is None


def test_more_logs_than_there_can_be_are_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "_MOST_FILES", 2)
    for n in range(2):
        (tmp_path / f"{n}").write_text("")
    assert files_in(str(tmp_path)) == Usage(0, 2)
    (tmp_path / "one-more").write_text("")
    assert files_in(str(tmp_path)) is None


class _Entry:
    """A file that is listed, and then does something else than tell."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        return follow_symlinks

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        raise self._error


def test_a_log_that_was_rotated_away_takes_nothing() -> None:
    assert logs._added_up([_Entry(FileNotFoundError())]) == NOTHING  # type: ignore[list-item]
    assert logs._added_up([_Entry(OSError())]) is None  # type: ignore[list-item]


def test_one_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_bytes(b"x" * 5000)
    assert file(str(tmp_path / "hosts")) == Usage(_blocks(tmp_path / "hosts"), 1)
    assert file(str(tmp_path / "none")) == NOTHING
    assert file(str(tmp_path / "hosts/below")) is None
    assert file("\0") is None


def test_pods_are_called_as_their_folders_say(tmp_path: Path) -> None:
    for name in (f"kube-system_proxy_{STATIC_UID}", UID, "a_b", "a_b_c_d"):
        (tmp_path / name).mkdir()
    assert names_by_uid(str(tmp_path)) == {STATIC_UID: PodName("kube-system", "proxy")}
    assert names_by_uid(str(tmp_path / "none")) == {}


def test_a_pod_without_a_name_has_no_folder_of_logs() -> None:
    assert log_folder("/logs", POD) == f"/logs/default_writer_{UID}"
    assert log_folder("/logs", PodOnNode(UID)) is None
    assert log_folder("/logs", PodOnNode("a/b", "c", "d")) is None
