"""A file that is looked at while the process runs: what it gives, and when a change counts."""

from __future__ import annotations

import asyncio
import os

import pytest

from bailiff.file_watch import FileWatch, see


@pytest.mark.parametrize(
    ("content", "seen"), [(b"", b""), (b"four", b"four"), (b"five!", "larger than 4 bytes")]
)
def test_a_file_gives_its_content_up_to_a_bound(tmp_path, content, seen) -> None:
    (tmp_path / "file").write_bytes(content)
    (tmp_path / "link").symlink_to("file")
    assert see(tmp_path / "link", 4) == seen


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "not a regular file"),
        (os.mkfifo, "not a regular file"),
    ],
    ids=["none", "folder", "FIFO"],
)
def test_what_is_no_file_is_told_and_no_descriptor_left_open(tmp_path, make, why) -> None:
    path = tmp_path / "file"
    make(path)
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - not a folder of ours
    assert see(path) == why
    assert os.listdir("/proc/self/fd") == before  # noqa: PTH208 - as above


async def changes(*looks: str) -> list[str]:
    left = list(looks)
    watch = FileWatch(lambda: left.pop(0), 1e-9)
    found = []
    try:
        while True:
            found.append(await watch.change())
            assert found[-1] == watch.seen
    except IndexError:  # nothing is left to be looked at
        return found


@pytest.mark.parametrize(
    ("looks", "found"),
    [
        ("aaaa", ""),
        ("abbb", "b"),
        ("abcbcc", "c"),
        ("abaab", ""),
        ("abbaa", "ba"),
        ("abbabb", "b"),
    ],
)
async def test_a_change_counts_once_two_looks_have_shown_it(looks: str, found: str) -> None:
    assert await changes(*looks) == list(found)


async def test_the_waiting_can_be_cancelled(tmp_path) -> None:
    task = asyncio.create_task(FileWatch(lambda: see(tmp_path), 1e-9).change())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
