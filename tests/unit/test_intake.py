"""Who sends much is read from in turns."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from bailiff.serving.intake import Intake


async def test_a_turn_lets_in_so_many_bytes_and_peers_take_turns() -> None:
    intake, came = Intake(turn_bytes=100), list[str]()
    for name in ("a1", "a2", "a3", "b1"):
        intake.wait(f"10.0.0.{name[0]}", 60, partial(came.append, name))
    turns = []
    while len(came) < 4:
        await asyncio.sleep(0)
        turns.append(list(came))
    assert turns == [["a1", "b1"], ["a1", "b1", "a2", "a3"]]


async def test_one_goes_on_in_each_turn_however_much_it_sends() -> None:
    intake, came = Intake(turn_bytes=100), list[str]()
    intake.wait("10.0.0.1", 1000, partial(came.append, "a"))
    intake.wait("10.0.0.1", 1000, partial(came.append, "b"))
    await asyncio.sleep(0)
    assert came == ["a"]
    await asyncio.sleep(0)
    assert came == ["a", "b"]
    intake.wait("10.0.0.1", 1000, partial(came.append, "c"))
    await asyncio.sleep(0)
    assert came == ["a", "b", "c"]


@pytest.mark.looptime
async def test_those_who_send_for_long_have_so_many_bytes_a_second() -> None:
    intake, came, loop = Intake(100, each_second=1000), list[str](), asyncio.get_running_loop()
    await asyncio.sleep(1)  # in which nobody sends
    began = loop.time()
    for name in "abcde":
        intake.wait("10.0.0.1", 100, partial(came.append, name))
    for _ in range(5):
        await asyncio.sleep(0)
    # What nobody sent before is saved up: 125 bytes, and the turn that has begun ends.
    assert came == ["a", "b"]
    while len(came) < 5:
        await asyncio.sleep(0.001)
    assert loop.time() >= began + 0.27
    # Who comes when nobody waits does not come sooner.
    intake.wait("10.0.0.1", 100, partial(came.append, "f"))
    while came[-1] == "e":
        await asyncio.sleep(0.001)
    assert loop.time() >= began + 0.37
