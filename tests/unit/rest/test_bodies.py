"""Waiting for a body: the first step at once, the others as ever."""

import asyncio

import pytest
from starlette.types import Message

from bailiff.rest_api.bodies import Begun

THERE: Message = {"type": "http.request", "body": b"{}"}


async def test_what_does_not_wait_is_there() -> None:
    async def ready() -> Message:
        return THERE

    assert Begun(ready()).result is THERE


async def test_what_waits_goes_on() -> None:
    turn = asyncio.Event()
    seen: list[str] = []

    async def waits() -> Message:
        seen.append("first")
        await turn.wait()
        await asyncio.sleep(0)
        seen.append("last")
        return THERE

    begun = Begun(waits())
    assert begun.result is None
    assert seen == ["first"]
    asyncio.get_running_loop().call_soon(turn.set)
    assert await begun is THERE
    assert seen == ["first", "last"]


async def test_errors_come_out_of_the_first_step_and_of_later_ones() -> None:
    async def fails(*, later: bool) -> Message:
        if later:
            await asyncio.sleep(0)
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        Begun(fails(later=False))
    begun = Begun(fails(later=True))
    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        await begun


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.looptime
async def test_cancelling_ends_the_coroutine(steps: int) -> None:
    cleaned: list[str] = []

    async def waits() -> Message:
        try:
            for _ in range(steps):
                await asyncio.sleep(2)
        finally:
            cleaned.append("up")
        return THERE

    begun = Begun(waits())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2 * steps - 1):
            await begun
    assert cleaned == ["up"]
