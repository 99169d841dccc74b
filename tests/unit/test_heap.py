"""Memory that nobody uses any more goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import resource
import weakref
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from bailiff.bootstrap.heap import (
    Growth,
    giving_back_free_memory,
    open_statm,
    resident_bytes,
    trim_of_libc,
)

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([100, 110, 220, 227], 0),
        ([100, 110, 228], 1),
        # What it shrinks to by itself is what it grows from.
        ([100, 60, 188], 1),
        ([100, 60, 187], 0),
        # Some growth is given back after thirty looks.
        ([100] + [132] * 29, 0),
        ([100] + [132] * 59, 1),
        ([100] + [132] * 60, 2),
        ([100] + [131] * 60, 0),
    ],
)
def test_a_process_that_has_grown_gives_back(sizes: list[int], times: int) -> None:
    assert len(list(given_back(sizes, left=100))) == times


def given_back(sizes: list[int], left: int) -> Iterator[int]:
    """At which looks a process of these sizes in MiB gives back, after which so much is left."""
    growth = Growth(sizes[0] * MIB)
    for look, size in enumerate(sizes[1:], start=1):
        if growth.look(size * MIB):
            yield look
            growth.gave_back(left * MIB)


def test_what_is_in_use_is_looked_at_ever_more_rarely() -> None:
    looks = list(given_back([100] + [300] * 20_000, left=300))
    assert looks[:5] == [1, 31, 91, 211, 451]
    assert looks[-1] - looks[-2] == 3600


def test_what_was_given_back_later_is_looked_for_as_often_again() -> None:
    growth = Growth(100 * MIB)
    pauses = []
    # In use until the third time.
    for left in (300, 300, 100, 100):
        pauses.append(next((n for n in range(1, 100) if growth.look(300 * MIB)), 0))
        growth.gave_back(left * MIB)
    assert pauses == [1, 30, 60, 1]
    assert [growth.look(140 * MIB) for _ in range(30)] == [False] * 29 + [True]


@pytest.fixture
def statm() -> Iterator[BinaryIO]:
    with open_statm() as opened:
        yield opened


ONLY_GLIBC = pytest.mark.skipif(trim_of_libc() is None, reason="only glibc gives back")


class Circle:
    """Only the garbage collector can tell that nobody uses it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def old_garbage() -> Iterator[weakref.ref[Circle]]:
    """What only a full collection finds; no other is made by itself meanwhile."""
    circle = Circle()
    gc.collect()
    gc.disable()
    try:
        found = weakref.ref(circle)
        del circle
        yield found
    finally:
        gc.enable()


async def test_a_process_that_has_grown_is_searched_for_garbage(
    monkeypatch: pytest.MonkeyPatch, old_garbage: weakref.ref[Circle]
) -> None:
    monkeypatch.setattr("bailiff.bootstrap.heap._EVERY_SECONDS", 0.001)
    looks = iter([False, False, True])
    monkeypatch.setattr(Growth, "look", lambda *_: next(looks, False))
    async with giving_back_free_memory(), asyncio.timeout(20):
        gc.collect(1)
        assert old_garbage() is not None
        while old_garbage() is not None:
            await asyncio.sleep(0.001)


async def test_full_collections_are_made_for_no_other_reason() -> None:
    before = gc.get_threshold()
    async with giving_back_free_memory():
        young, middle, old = gc.get_threshold()
        assert (young, middle) == before[:2]
        # More than there are in half a year at a hundred a second.
        assert old > 100 * 60 * 60 * 24 * 180
    assert gc.get_threshold() == before


@ONLY_GLIBC
def test_what_lies_between_what_is_used_is_given_back(statm: BinaryIO) -> None:
    libc, trim = ctypes.CDLL(None), trim_of_libc()
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    assert trim is not None
    trim()  # or the pieces would lie in what is free and still here
    before, size = resident_bytes(statm), 16 * 1024
    pieces = [libc.malloc(size) for _ in range(8000)]
    for piece in pieces:
        ctypes.memset(piece, 1, size)
    for number, piece in enumerate(pieces):
        if number % 16:
            libc.free(piece)
    assert resident_bytes(statm) > before + 64 * MIB
    trim()
    assert resident_bytes(statm) < before + 32 * MIB
    for piece in pieces[::16]:
        libc.free(piece)


@ONLY_GLIBC
async def test_a_process_without_descriptors_goes_on_looking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bailiff.bootstrap.heap._EVERY_SECONDS", 0.01)
    least = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with giving_back_free_memory():
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, least[1]))
        try:
            await asyncio.sleep(0.1)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, least)


@ONLY_GLIBC
async def test_a_process_without_threads_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[object]()

    async def refuse(work: object) -> None:
        tried.append(work)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("bailiff.bootstrap.heap._EVERY_SECONDS", 0.001)
    monkeypatch.setattr(Growth, "look", lambda *_: True)
    monkeypatch.setattr(asyncio, "to_thread", refuse)
    async with giving_back_free_memory(), asyncio.timeout(20):
        while len(tried) < 2:
            await asyncio.sleep(0.001)
