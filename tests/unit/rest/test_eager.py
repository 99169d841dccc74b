"""The first step at once, the others as ever."""

import asyncio

import pytest

from bailiff.rest_api.eager import Begun


async def test_what_does_not_wait_is_finished() -> None:
    async def ready() -> int:
        return 7

    begun = Begun(ready())
    assert begun.finished
    assert begun.result == 7
    assert await begun == 7


async def test_what_waits_goes_on() -> None:
    turn = asyncio.Event()
    seen: list[str] = []

    async def waits() -> int:
        seen.append("first")
        await turn.wait()
        await asyncio.sleep(0)
        seen.append("last")
        return 7

    begun = Begun(waits())
    assert not begun.finished
    assert seen == ["first"]
    asyncio.get_running_loop().call_soon(turn.set)
    assert await begun == 7
    assert seen == ["first", "last"]


async def test_errors_come_out_of_the_first_step_and_of_later_ones() -> None:
    async def fails(*, later: bool) -> None:
        if later:
            await asyncio.sleep(0)
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        Begun(fails(later=False))
    begun = Begun(fails(later=True))
    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        await begun


@pytest.mark.looptime
async def test_cancelling_reaches_the_coroutine() -> None:
    cleaned: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3):
            await Begun(waits())
    assert cleaned == ["up"]


@pytest.mark.looptime
async def test_a_coroutine_may_refuse_to_be_cancelled_with_a_result() -> None:
    async def stubborn() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return 7
        return 0

    task = asyncio.ensure_future(_awaiting(Begun, stubborn))
    await asyncio.sleep(1)
    task.cancel()
    assert await task == 7


async def _awaiting(begin: type[Begun[int]], work: object) -> int:
    assert callable(work)
    return await begin(work())
