"""How full file systems are, and which are one."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from bailiff.agent.readings import file_systems
from bailiff.agent.readings.file_systems import Usage, file_system, layout_of, taken
from bailiff.decisions.pressure.facts import LAYOUTS, FileSystemLayout
from bailiff.kinds.stats import FsStats

NOW = datetime(2026, 11, 24, tzinfo=UTC)
_TOLD = {
    "f_bsize": 512,
    "f_frsize": 4096,
    "f_blocks": 1000,
    "f_bfree": 300,
    "f_bavail": 250,
    "f_files": 100,
    "f_ffree": 60,
}


def _told(monkeypatch: pytest.MonkeyPatch, **numbers: int) -> FsStats | None:
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(**_TOLD | numbers))
    return file_system("/", NOW)


def test_what_is_available_is_less_than_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _told(monkeypatch) == FsStats(
        time=NOW,
        available_bytes=250 * 4096,
        capacity_bytes=1000 * 4096,
        used_bytes=700 * 4096,
        inodes=100,
        inodes_free=60,
        inodes_used=40,
    )


def test_no_inodes_are_not_none_left(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _told(monkeypatch, f_files=0, f_ffree=0)
    assert found is not None
    assert (found.inodes, found.inodes_free, found.inodes_used) == (None, None, None)


def test_numbers_that_cannot_be_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _told(monkeypatch, f_bavail=2**64 - 5, f_bfree=2000, f_ffree=101)
    assert found is not None
    assert (found.available_bytes, found.used_bytes, found.inodes_used) == (None, None, None)
    assert found.capacity_bytes == 1000 * 4096


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    assert file_system(str(tmp_path / "none"), NOW) is None
    assert file_system("\0", NOW) is None
    assert layout_of(str(tmp_path), str(tmp_path / "none"), str(tmp_path)) is None


def test_a_part_has_the_size_of_its_file_system() -> None:
    whole = FsStats(capacity_bytes=9, used_bytes=5, inodes=7, inodes_used=6)
    assert taken(whole, Usage(1, 2), NOW) == FsStats(
        time=NOW, capacity_bytes=9, used_bytes=1, inodes=7, inodes_used=2
    )
    assert taken(None, None, NOW) == FsStats(time=NOW)


@pytest.mark.parametrize(
    ("images", "layers", "expected"),
    [
        (1, 1, LAYOUTS["single"]),
        (2, 2, LAYOUTS["dedicated"]),
        (2, 1, LAYOUTS["split"]),
        (2, 3, LAYOUTS["split"]),
        (1, 2, FileSystemLayout(split_container_image_fs=True)),
    ],
)
def test_file_systems_are_told_apart_by_their_devices(
    monkeypatch: pytest.MonkeyPatch, images: int, layers: int, expected: FileSystemLayout
) -> None:
    devices = {"kubelet": 1, "images": images, "layers": layers}
    monkeypatch.setattr(file_systems, "device", devices.__getitem__)
    assert layout_of("kubelet", "images", "layers") == expected
