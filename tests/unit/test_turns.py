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


async def test_an_address_has_half_of_the_turns_whoever_waits() -> None:
    turns, done, until = Turns(4), list[str](), asyncio.Event()
    tasks = begin(turns, "1a 1b 1c 1d", done, until)
    await asyncio.sleep(0)
    assert done == ["1a", "1b"]
    # Nobody else waits behind those that may not begin yet.
    tasks += begin(turns, "2a 2b 2c 3a 3b", done, until)
    await asyncio.sleep(0)
    assert done == ["1a", "1b", "2a", "2b"]
    for task, called in ((tasks[4], "2c"), (tasks[5], "3a"), (tasks[0], "1c")):
        task.cancel()
        await asyncio.sleep(0.01)
        assert done[-1] == called
    until.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(done) == ["1a", "1b", "1c", "1d", "2a", "2b", "2c", "3a", "3b"]


async def test_the_only_turn_is_everybodys() -> None:
    turns, done, until = Turns(1), list[str](), asyncio.Event()
    until.set()
    await asyncio.gather(*begin(turns, "1a 1b 2a", done, until))
    assert done == ["1a", "1b", "2a"]


async def test_a_proxy_speaks_for_many_and_may_have_all_turns() -> None:
    turns, done, until = Turns(2), list[str](), asyncio.Event()

    async def forwarded() -> None:
        async with turns.turn():
            done.append("")
            await until.wait()

    tasks = [asyncio.create_task(forwarded()) for _ in range(3)]
    await asyncio.sleep(0)
    assert len(done) == 2
    until.set()
    await asyncio.gather(*tasks)


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
