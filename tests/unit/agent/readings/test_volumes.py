"""What pods' local volumes take: little by little, each now and then."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bailiff.agent.readings import disk_usage, volumes
from bailiff.agent.readings.disk_usage import BOUNDS, Bounds
from bailiff.agent.readings.volume_uses import PodVolumes, VolumeUses
from bailiff.agent.readings.volumes import find_volumes

NOW = datetime(2026, 11, 24, tzinfo=UTC)


class Clock:
    """Each look at it takes a moment."""

    def __init__(self, moment: float = 0.0) -> None:
        self.now = 1000.0
        self.moment = moment

    def __call__(self) -> float:
        self.now += self.moment
        return self.now


def _volume(pods: Path, uid: str, name: str, files: int = 1, kind: str = "empty-dir") -> Path:
    folder = pods / uid / "volumes" / f"kubernetes.io~{kind}" / name
    for n in range(files):
        (folder / f"folder-{n}").mkdir(parents=True)
        (folder / f"folder-{n}" / "file").write_bytes(b"x" * 5000)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _inodes(found: PodVolumes | None) -> dict[str, int | None]:
    assert found is not None
    return {name: use.stats.inodes_used for name, use in found.uses.items()}


def test_local_volumes_are_those_of_three_kinds(tmp_path: Path) -> None:
    for kind in ("empty-dir", "configmap", "git-repo", "secret", "csi", "projected"):
        _volume(tmp_path, "uid", f"a-{kind}", kind=kind)
    found = find_volumes(str(tmp_path), "uid")
    assert found is not None
    assert [one.name for one in found] == ["a-empty-dir", "a-configmap", "a-git-repo"]


def test_a_pod_without_a_folder_has_no_volumes(tmp_path: Path) -> None:
    assert find_volumes(str(tmp_path), "uid") == []


def test_which_volumes_there_are_may_not_be_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _volume(tmp_path, "uid", "a")
    assert find_volumes(str(tmp_path / "none"), "uid") is None
    assert find_volumes(str(tmp_path), "../uid") is None
    monkeypatch.setattr(volumes, "_MOST", 1)
    assert find_volumes(str(tmp_path), "uid") is None
    (tmp_path / "file/volumes").mkdir(parents=True)
    (tmp_path / "file/volumes/kubernetes.io~configmap").write_text("")
    assert find_volumes(str(tmp_path), "file") is None


def test_a_folder_that_may_not_be_seen_is_no_pod_without_volumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name == "volumes":
            raise PermissionError(13, "no")
        return real(path, follow_symlinks=follow_symlinks)

    _volume(tmp_path, "uid", "a")
    monkeypatch.setattr(Path, "stat", refused)
    assert find_volumes(str(tmp_path), "uid") is None


def test_names_that_are_no_text_are_those_of_no_volume(tmp_path: Path) -> None:
    folder = _volume(tmp_path, "uid", "a")
    os.mkdir(os.fsencode(folder.parent) + b"/\xff")  # noqa: PTH102 - bytes
    found = find_volumes(str(tmp_path), "uid")
    assert found is not None
    assert [one.name for one in found] == ["a"]


def test_volumes_are_measured_in_full(tmp_path: Path) -> None:
    folder = _volume(tmp_path, "uid", "cache")
    _volume(tmp_path, "uid", "other", files=0)
    uses = VolumeUses(str(tmp_path))
    assert uses.of("uid") is None
    uses.measure(["uid"], 5.0, NOW)
    found = uses.of("uid")
    assert found is not None
    assert found.is_complete
    assert _inodes(found) == {"cache": 3, "other": 1}
    stats = found.uses["cache"].stats
    paths = [folder, *folder.rglob("*")]
    assert stats.used_bytes == sum(one.lstat().st_blocks for one in paths) * 512
    assert (stats.name, stats.time) == ("cache", NOW)
    assert stats.capacity_bytes
    assert found.uses["cache"].on_disk


def test_a_volume_is_measured_again_after_a_while(tmp_path: Path) -> None:
    clock = Clock()
    folder = _volume(tmp_path, "uid", "cache")
    uses = VolumeUses(str(tmp_path), BOUNDS, clock)
    uses.measure(["uid"], 5.0, NOW)
    (folder / "new").write_text("")
    clock.now += 49
    uses.measure(["uid"], 5.0, NOW)
    assert _inodes(uses.of("uid")) == {"cache": 3}
    clock.now += 1
    uses.measure(["uid"], 5.0, NOW)
    assert _inodes(uses.of("uid")) == {"cache": 4}


def test_what_is_not_there_any_more_is_forgotten(tmp_path: Path) -> None:
    first, _ = _volume(tmp_path, "uid", "first"), _volume(tmp_path, "uid", "second")
    uses = VolumeUses(str(tmp_path))
    uses.measure(["uid"], 5.0, NOW)
    shutil.rmtree(first)
    uses.measure(["uid"], 5.0, NOW)
    assert _inodes(uses.of("uid")) == {"second": 3}
    uses.measure(["other"], 5.0, NOW)
    assert uses.of("uid") is None
    assert uses.of("other") == PodVolumes(frozenset(), {})


def test_a_pod_whose_volumes_are_not_known_any_more(tmp_path: Path) -> None:
    _volume(tmp_path, "uid", "cache")
    uses = VolumeUses(str(tmp_path))
    uses.measure(["uid"], 5.0, NOW)
    tmp_path.rename(tmp_path.with_name("gone"))
    uses.measure(["uid"], 5.0, NOW)
    assert uses.of("uid") is None


def test_beyond_a_bound_a_volume_is_not_measured(tmp_path: Path) -> None:
    _volume(tmp_path, "uid", "large", files=5)
    _volume(tmp_path, "uid", "small")
    uses = VolumeUses(str(tmp_path), Bounds(inodes=10))
    uses.measure(["uid"], 5.0, NOW)
    found = uses.of("uid")
    assert found is not None
    assert _inodes(found) == {"large": None, "small": 3}
    assert found.uses["large"].stats.capacity_bytes
    assert not found.is_complete


def test_a_large_volume_is_measured_over_several_calls_and_holds_up_no_other(tmp_path: Path):
    _volume(tmp_path, "a", "large", files=40)
    _volume(tmp_path, "a", "larger", files=40)
    _volume(tmp_path, "b", "small")
    uses = VolumeUses(str(tmp_path), BOUNDS, Clock(moment=0.02))
    seen = []
    for _ in range(10):
        uses.measure(["a", "b"], 0.8, NOW)
        seen.append({**_inodes(uses.of("a")), **_inodes(uses.of("b"))})
    assert seen[0] == {"small": 3}
    assert {"large": 81, "larger": 81, "small": 3} in seen
    # One after the other, each from where it stopped.
    assert {"large": 81, "small": 3} in seen


def test_a_large_volume_that_is_gone_makes_room_for_the_next(tmp_path: Path) -> None:
    large = _volume(tmp_path, "a", "large", files=40)
    _volume(tmp_path, "a", "larger", files=20)
    uses = VolumeUses(str(tmp_path), BOUNDS, Clock(moment=0.02))
    uses.measure(["a"], 0.8, NOW)
    shutil.rmtree(large)
    for _ in range(3):
        uses.measure(["a"], 0.8, NOW)
    assert _inodes(uses.of("a")) == {"larger": 41}


def test_nothing_is_measured_once_it_is_to_stop(tmp_path: Path) -> None:
    _volume(tmp_path, "uid", "cache")
    uses = VolumeUses(str(tmp_path))
    uses.measure(["uid"], 5.0, NOW, lambda: True)
    assert uses.of("uid") == PodVolumes(frozenset({"cache"}), {})


def test_a_walk_that_is_stopped_leaves_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(disk_usage, "_STRETCH", 1)
    _volume(tmp_path, "uid", "cache", files=5)
    asked = iter([False, False, False])
    uses = VolumeUses(str(tmp_path))
    uses.measure(["uid"], 5.0, NOW, lambda: next(asked, True))
    assert uses.of("uid") == PodVolumes(frozenset({"cache"}), {})
    uses.measure(["uid"], 5.0, NOW)
    assert _inodes(uses.of("uid")) == {"cache": 11}


def test_without_time_nothing_is_measured(tmp_path: Path) -> None:
    _volume(tmp_path, "uid", "cache")
    uses = VolumeUses(str(tmp_path))
    uses.measure(["uid"], 0.0, NOW)
    assert uses.of("uid") == PodVolumes(frozenset({"cache"}), {})
    assert not PodVolumes(frozenset({"cache"}), {}).is_complete
