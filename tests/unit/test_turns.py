"""Work that others have to wait for: few at a time, addresses in turns."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.turns import ASKED_FROM, Turns, WaitedTooLongError


async def work(turns: Turns, name: str, done: list[str], until: asyncio.Event) -> None:
    ASKED_FROM.set(f"10.0.0.{name[0]}")
    async with turns.turn():
        done.append(name)
        await until.wait()


def begin(
    turns: Turns, names: str, done: list[str], until: asyncio.Event
) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(work(turns, name, done, until)) for name in names.split()]


async def test_nobody_waits_behind_all_that_another_address_asks() -> None:
    turns, done, until = Turns(1), list[str](), asyncio.Event()
    tasks = begin(turns, "1a 1b 1c 1d 2a", done, until)
    await asyncio.sleep(0)
    assert done == ["1a"]
    until.set()
    await asyncio.gather(*tasks)
    assert done == ["1a", "1b", "2a", "1c", "1d"]


async def test_who_gives_up_leaves_its_turn_to_others() -> None:
    turns, done, until = Turns(1), list[str](), asyncio.Event()
    first, waits, called, last = begin(turns, "1a 1b 1c 1d", done, until)
    await asyncio.sleep(0)
    waits.cancel()
    first.cancel()
    await asyncio.sleep(0)  # the turn of the first goes to `called`, which has not run yet
    called.cancel()
    until.set()
    await asyncio.gather(first, waits, called, last, return_exceptions=True)
    assert done == ["1a", "1d"]
    async with turns.turn():
        pass


async def test_nobody_waits_for_longer_than_it_may() -> None:
    turns = Turns(1, longest=0.01)
    async with turns.turn():
        with pytest.raises(WaitedTooLongError):
            async with turns.turn():
                pass
    async with turns.turn():
        pass
