"""Who sends much is read from in turns."""

from __future__ import annotations

import asyncio
from functools import partial

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
