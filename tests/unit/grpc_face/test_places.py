"""Places: so many in all and of each address; who waits longest makes room."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.grpc_api.errors import OverloadedError, SlowBodyError
from bailiff.grpc_api.places import Place, Places


class Clock:
    def __init__(self) -> None:
        self.now = 100.0


async def client(places: Places, address: str, *, waits: bool = True) -> asyncio.Task[Place]:
    """A call that has a place, and waits for its client or not, until it is ended."""
    entered = asyncio.Event()

    async def call() -> Place:
        with places.enter(address, 10) as place:
            if not waits:
                places.work(place)
            entered.set()
            await asyncio.Event().wait()
        return place

    task = asyncio.create_task(call())
    entering = asyncio.create_task(entered.wait())
    await asyncio.wait({task, entering}, return_when=asyncio.FIRST_COMPLETED)
    entering.cancel()
    return task


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def test_who_has_waited_longest_makes_room(clock: Clock) -> None:
    places = Places(2, "calls", 0.1, lambda: clock.now)
    first, second = await client(places, ""), await client(places, "")
    clock.now += 1
    third = await client(places, "")
    with pytest.raises(OverloadedError, match="others want"):
        await first
    assert not second.done()
    assert not third.done()


async def test_who_has_only_come_and_who_is_answered_keep_their_places(clock: Clock) -> None:
    places = Places(2, "calls", 0.1, lambda: clock.now)
    await client(places, "", waits=False)
    waiting = await client(places, "")
    refused = await client(places, "")
    with pytest.raises(OverloadedError, match="2 calls are under way"):
        await refused
    clock.now += 1
    assert not (await client(places, "")).done()
    with pytest.raises(OverloadedError):
        await waiting
    # And their places are free when they leave.
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not (await client(places, "a", waits=False)).done()
    assert not (await client(places, "b", waits=False)).done()


async def test_one_address_has_half_and_makes_room_for_itself(clock: Clock) -> None:
    places = Places(4, "calls", 0.1, lambda: clock.now)
    greedy = [await client(places, "a") for _ in range(2)]
    with pytest.raises(OverloadedError):
        await (await client(places, "a"))
    others = [await client(places, "b"), await client(places, "c")]
    clock.now += 1
    await client(places, "a")
    with pytest.raises(OverloadedError):
        await greedy[0]
    assert not any(one.done() for one in [greedy[1], *others])


async def test_the_address_with_the_most_makes_room_for_others(clock: Clock) -> None:
    places = Places(4, "calls", 0.1, lambda: clock.now)
    alone = await client(places, "b")
    greedy = [await client(places, "a") for _ in range(2)]
    await client(places, "c")
    clock.now += 1
    await client(places, "d")
    with pytest.raises(OverloadedError):
        await greedy[0]
    assert not alone.done()


async def test_those_who_wait_for_too_long_are_told_why(clock: Clock) -> None:
    places = Places(4, "calls", 0.1, lambda: clock.now)
    slow = await client(places, "a")
    answered = await client(places, "a", waits=False)
    clock.now += 9
    late = await client(places, "b")
    clock.now += 1
    places.expire(lambda: SlowBodyError("too slow"))
    with pytest.raises(SlowBodyError):
        await slow
    assert not answered.done()
    assert not late.done()


async def test_a_caller_that_hangs_up_gives_its_place_back(clock: Clock) -> None:
    places = Places(1, "calls", 0.1, lambda: clock.now)
    for _ in range(3):
        gone = await client(places, "a")
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
