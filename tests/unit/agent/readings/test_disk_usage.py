"""How much a folder takes on the disk: each inode once, no links, within bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.agent.readings import disk_usage
from bailiff.agent.readings.disk_usage import BOUNDS, Bounds, Walk
from bailiff.agent.readings.file_systems import Usage

_FOREVER = float("inf")


def _counted(top: Path, bounds: Bounds = BOUNDS) -> Usage | None:
    walk = Walk(str(top), bounds)
    assert walk.go_on(_FOREVER)
    return walk.usage


def _by_hand(*paths: Path) -> Usage:
    return Usage(sum(one.lstat().st_blocks * 512 for one in paths), len(paths))


def _tree(top: Path) -> list[Path]:
    (top / "a/b").mkdir(parents=True)
    (top / "a/b/long").write_bytes(b"x" * 100_000)
    (top / "short").write_bytes(b"x")
    return [top, *top.rglob("*")]


def test_folders_count_and_so_does_the_first(tmp_path: Path) -> None:
    assert _counted(tmp_path) == _by_hand(tmp_path)
    paths = _tree(tmp_path)
    assert _counted(tmp_path) == _by_hand(*paths)


def test_holes_of_a_file_take_nothing(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(2**30)
    found = _counted(tmp_path)
    assert found is not None
    assert found.bytes < 2**20


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    _tree(tmp_path)
    before = _counted(tmp_path)
    os.link(tmp_path / "a/b/long", tmp_path / "again")
    assert _counted(tmp_path) == before


def test_a_link_counts_and_is_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    paths = _tree(inside)
    _tree(outside)
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "a/b/long")
    (inside / "loop").symlink_to(inside)
    (inside / "nowhere").symlink_to("none")
    expected = _by_hand(*paths, *(inside / one for one in ("link", "file", "loop", "nowhere")))
    assert _counted(inside) == expected


def test_pipes_and_sockets_count_and_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    assert _counted(tmp_path) == _by_hand(tmp_path, tmp_path / "pipe", tmp_path / "socket")


def test_what_is_not_there_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "file").write_text("")
    for name in ("none", "link", "file"):
        assert _counted(tmp_path / name) is None


def test_names_that_are_no_text(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/\xff\n")  # noqa: PTH102 - bytes
    assert _counted(tmp_path) == _by_hand(tmp_path, *tmp_path.iterdir())


def test_a_folder_that_may_not_be_read_is_not_half_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tree(tmp_path)
    real = os.open

    def refused(path: bytes, flags: int) -> int:
        if path.endswith(b"/b"):
            raise PermissionError(13, "no")
        return real(path, flags)

    monkeypatch.setattr(os, "open", refused)
    assert _counted(tmp_path) is None


class _Entry:
    """A file that is listed, and gone when it is looked at."""

    name = "gone"

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        return follow_symlinks

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        raise FileNotFoundError(2, str(follow_symlinks))


def test_a_file_that_vanishes_meanwhile_takes_nothing(tmp_path: Path) -> None:
    walk = Walk(str(tmp_path))
    walk._count([_Entry()], bytearray())  # type: ignore[list-item]
    assert walk.go_on(_FOREVER)
    assert walk.usage == _by_hand(tmp_path)


def test_a_file_of_another_file_system_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    walk = Walk(str(tmp_path / "none"))
    walk.device = tmp_path.lstat().st_dev + 1
    walk._add((tmp_path / "file").lstat())
    assert walk.go_on(_FOREVER)
    assert walk.usage == Usage(0, 0)


def test_a_folder_that_vanishes_meanwhile_takes_nothing(tmp_path: Path) -> None:
    top = tmp_path / "top"
    _tree(top)
    walk = Walk(str(top))
    assert not walk.go_on(0.0)
    assert walk.usage is None
    (top / "a").rename(tmp_path / "elsewhere")
    assert walk.go_on(_FOREVER)
    assert walk.usage == _by_hand(top, top / "short")


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    top = tmp_path / "top"
    _tree(top)
    walk = Walk(str(top))
    walk.go_on(0.0)
    (top / "a").rename(tmp_path / "elsewhere")
    (top / "a").symlink_to("/")
    assert walk.go_on(_FOREVER)
    assert walk.usage is not None
    assert walk.usage.inodes == 2


def test_other_file_systems_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tree(tmp_path)
    real = os.fstat

    def told(folder: int) -> os.stat_result:
        found = real(folder)
        if os.readlink(f"/proc/self/fd/{folder}").endswith("/a"):  # noqa: PTH115
            return os.stat_result((*found[:2], found.st_dev + 1, *found[3:]))
        return found

    monkeypatch.setattr(os, "fstat", told)
    assert _counted(tmp_path) == _by_hand(tmp_path, tmp_path / "short")


@pytest.mark.parametrize(
    ("bounds", "within"),
    [
        (Bounds(inodes=5), True),
        (Bounds(inodes=4), False),
        (Bounds(entries=2), True),
        (Bounds(entries=1), False),
        (Bounds(held=1), False),
    ],
)
def test_beyond_a_bound_nothing_is_told(tmp_path: Path, bounds: Bounds, within: bool) -> None:
    _tree(tmp_path)
    assert (_counted(tmp_path, bounds) is not None) is within


def test_names_that_are_still_to_be_looked_at_are_bounded(tmp_path: Path) -> None:
    for n in range(50):
        (tmp_path / f"folder-{n}").mkdir()
    held = len(os.fsencode(tmp_path)) * 2
    assert _counted(tmp_path, Bounds(held=held + 50 * 10)) is not None
    assert _counted(tmp_path, Bounds(held=held + 10 * 10)) is None


def test_several_names_are_remembered_within_a_bound(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}").write_text("")
        os.link(tmp_path / f"{n}", tmp_path / f"again-{n}")
    assert _counted(tmp_path, Bounds(links=3)) is not None
    assert _counted(tmp_path, Bounds(links=2)) is None


def test_a_deep_tree_is_counted(tmp_path: Path) -> None:
    top = tmp_path
    for _ in range(300):
        top /= "d"
        top.mkdir()
    found = _counted(tmp_path)
    assert found is not None
    assert found.inodes == 301


def test_a_walk_goes_on_where_it_stopped(tmp_path: Path) -> None:
    expected = _by_hand(*_tree(tmp_path))
    walk = Walk(str(tmp_path))
    turns = 1
    while not walk.go_on(0.0):
        turns += 1
    # A turn for each folder.
    assert turns == 3 + 1
    assert walk.usage == expected
    assert walk.go_on(0.0)


def test_a_walk_that_is_stopped_tells_nothing(tmp_path: Path) -> None:
    _tree(tmp_path)
    walk = Walk(str(tmp_path))
    assert walk.go_on(_FOREVER, lambda: True)
    assert walk.usage is None


def test_many_files_are_gone_through_in_stretches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_usage, "_STRETCH", 2)
    paths = _tree(tmp_path)
    for n in range(5):
        (tmp_path / f"{n}").write_text("")
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return False

    walk = Walk(str(tmp_path))
    assert walk.go_on(_FOREVER, stopped)
    assert walk.usage == _by_hand(*paths, *(tmp_path / f"{n}" for n in range(5)))
    assert asked == 4 + 1 + 1


@given(st.recursive(st.just(None), lambda one: st.dictionaries(st.sampled_from("abc"), one)))
def test_any_tree_is_counted_as_by_hand(
    tmp_path_factory: pytest.TempPathFactory, tree: dict | None
) -> None:
    top = tmp_path_factory.mktemp("tree")
    _make(top, tree or {})
    assert _counted(top) == _by_hand(top, *top.rglob("*"))


def _make(folder: Path, tree: dict) -> None:
    for name, inside in tree.items():
        if inside is None:
            (folder / name).write_bytes(b"x" * 5000)
        else:
            (folder / name).mkdir()
            _make(folder / name, inside)
