"""A storm of notices: ten are passed on at once, and then one in a tenth of a second."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from bailiff.agent.notices.pace import Pace

pytestmark = pytest.mark.looptime(start=0)


class Heard:
    """When a pace has passed something on."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.pace = Pace(lambda: self.at.append(round(asyncio.get_running_loop().time(), 3)))


async def test_a_few_are_passed_on_at_once():
    heard = Heard()
    for _ in range(10):
        heard.pace.notice()
    assert heard.at == [0] * 10


async def test_a_storm_is_passed_on_ten_times_a_second():
    heard = Heard()
    for _ in range(200):
        heard.pace.notice()
        await asyncio.sleep(0.01)
    assert len([at for at in heard.at if at < 0.05]) <= 10
    late = [at for at in heard.at if at > 0.2]
    assert all(after - at == pytest.approx(0.1) for at, after in itertools.pairwise(late))
    assert 25 <= len(heard.at) <= 30


async def test_what_is_held_back_is_late_and_not_lost_and_told_once():
    heard = Heard()
    for _ in range(15):
        heard.pace.notice()
    assert len(heard.at) == 10
    await asyncio.sleep(5)
    assert heard.at[10:] == [0.1]


async def test_after_a_quiet_second_a_few_are_passed_on_at_once_again():
    heard = Heard()
    for _ in range(11):
        heard.pace.notice()
    await asyncio.sleep(1.2)
    heard.at.clear()
    for _ in range(11):
        heard.pace.notice()
    assert len(heard.at) in (9, 10)


async def test_what_is_held_back_in_the_end_is_nobodys():
    heard = Heard()
    for _ in range(11):
        heard.pace.notice()
    heard.pace.close()
    await asyncio.sleep(1)
    assert len(heard.at) == 10
