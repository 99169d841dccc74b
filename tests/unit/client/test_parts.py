"""Long answers in parts: as they come, how long each may take, and what breaks off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from aiohttp import web

from bailiff.client import ClientSettings, DeadlineError, Retries, UnavailableError
from tests.harness.scripts import GRPC, QUICK, REST, Script, part, scripted
from tests.harness.ways import WAYS, client

ASKED: tuple[str, dict[str, Any]] = ("decide_batch_in_parts", {"pods": []})
# Each attempt has less time than the pauses of a slow server take, and a call more.
HASTY = ClientSettings(
    timeout=30.0, attempt_timeout=0.2, retries=Retries(first_pause=0.0, longest_pause=0.0)
)


async def whole(_: Any) -> AsyncIterator[bytes]:
    yield part("one")
    yield part("two")


async def hanging(_: Any) -> AsyncIterator[bytes]:
    await asyncio.sleep(60)
    yield b""


def reasons(parts: list[Any]) -> list[str]:
    return [one.reason for each in parts for one in each.decisions]


@pytest.mark.parametrize("way", GRPC)
async def test_later_parts_may_take_longer_than_an_attempt(way: str) -> None:
    async def slow(_: Any) -> AsyncIterator[bytes]:
        yield part("one")
        await asyncio.sleep(2 * HASTY.attempt_timeout)
        yield part("two")

    async with scripted(way, Script(slow)) as ports, client(way, ports, HASTY) as asking:
        assert reasons(await asking.parts(*ASKED)) == ["one", "two"]


@pytest.mark.parametrize("way", GRPC)
async def test_an_attempt_without_a_first_part_is_given_up_and_another_made(way: str) -> None:
    script = Script(hanging, whole)
    async with scripted(way, script) as ports, client(way, ports, HASTY) as asking:
        assert reasons(await asking.parts(*ASKED)) == ["one", "two"]
    assert script.calls > 1


@pytest.mark.parametrize("way", GRPC)
async def test_no_first_part_in_time_is_a_deadline(way: str) -> None:
    settings = ClientSettings(attempt_timeout=0.1, retries=Retries(attempts=1))
    async with scripted(way, Script(hanging)) as ports, client(way, ports, settings) as asking:
        with pytest.raises(DeadlineError):
            await asking.parts(*ASKED)


@pytest.mark.parametrize("way", GRPC)
async def test_all_parts_have_the_time_of_the_call(way: str) -> None:
    async def half(context: Any) -> AsyncIterator[bytes]:
        yield part("one")
        await asyncio.sleep(60)

    settings = ClientSettings(timeout=0.3, attempt_timeout=0.2)
    async with scripted(way, Script(half)) as ports, client(way, ports, settings) as asking:
        with pytest.raises(DeadlineError):
            await asking.parts(*ASKED)


@pytest.mark.parametrize("way", GRPC)
async def test_who_wants_no_more_parts_ends_the_call(way: str) -> None:
    ended = asyncio.Event()

    async def endless(_: Any) -> AsyncIterator[bytes]:
        try:
            while True:
                yield part("one")
                await asyncio.sleep(0.01)
        finally:
            ended.set()

    async with scripted(way, Script(endless)) as ports, client(way, ports, QUICK) as asking:
        parts = asking.client.decide_batch_in_parts({"pods": []})
        if way == "grpc":
            await asyncio.to_thread(next, parts)
            parts.close()
        else:
            await anext(parts)
            await parts.aclose()
        async with asyncio.timeout(10):
            await ended.wait()


@pytest.mark.parametrize("way", GRPC)
async def test_parts_that_break_off_are_asked_for_again_from_the_first(way: str) -> None:
    async def breaking(context: Any) -> AsyncIterator[bytes]:
        yield part("one")
        await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    script = Script(breaking, whole)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        answer = await asking.ask("decide_batch", {"pods": []})
    assert [one.reason for one in answer.decisions] == ["one", "two"]


@pytest.mark.parametrize("way", GRPC)
async def test_parts_that_somebody_has_are_not_given_twice(way: str) -> None:
    async def breaking(context: Any) -> AsyncIterator[bytes]:
        yield part("one")
        await context.abort(grpc.StatusCode.UNAVAILABLE, "gone")

    script = Script(breaking)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        with pytest.raises(UnavailableError):
            await asking.parts("decide_batch_in_parts", {"pods": []})
    assert script.calls == 1


@pytest.mark.parametrize("way", WAYS)
async def test_parts_as_they_come(way: str) -> None:
    async def in_one(_: web.Request) -> web.Response:
        return web.json_response({"decisions": [{"reason": "one"}, {"reason": "two"}]})

    script = Script(in_one if way in REST else whole)
    async with scripted(way, script) as ports, client(way, ports, QUICK) as asking:
        parts = await asking.parts("decide_batch_in_parts", {"pods": []})
    assert len(parts) == (1 if way in REST else 2)
    assert [one.reason for each in parts for one in each.decisions] == ["one", "two"]
