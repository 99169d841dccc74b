"""Counting in one ConfigMap: together, against others who write, and when it cannot be had."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from bailiff.cluster import (
    FencedError,
    ForbiddenError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
)
from bailiff.decisions.policies import UNKNOWN, Hold
from bailiff.decisions.policies.over_time_columns import MARGIN
from bailiff.tally import Tally, TallyError
from tests.harness.clocks import LoopClock
from tests.harness.tallies import OneConfigMap, budget, other_store, tally_of, tries, wishes

pytestmark = pytest.mark.looptime

TWO = budget(2)


@pytest.fixture
def server() -> OneConfigMap:
    return OneConfigMap()


async def test_those_that_ask_together_are_written_together(server: OneConfigMap) -> None:
    found = await tries(tally_of(server), "abcde", budget(3))
    assert [hold is None for hold in found] == [True, True, True, False, False]
    assert (server.reads, server.writes, server.counted()) == (1, 1, 3)


@pytest.mark.parametrize("replicas", [2, 5])
async def test_never_more_than_the_budget_through_several_replicas(
    server: OneConfigMap, replicas: int
) -> None:
    server.latency = 0.005
    tallies = [tally_of(server) for _ in range(replicas)]
    settings = budget(10)

    async def one(number: int) -> Hold | None:
        await asyncio.sleep(0.001 * (number % 7))
        name = f"pod-{number}"
        return await tallies[number % replicas].count(wishes(settings, name), settings)

    found = await asyncio.gather(*(one(number) for number in range(200)))
    assert sum(hold is None for hold in found) == 10
    assert server.counted() == 10


async def test_the_next_goes_when_the_first_is_over(server: OneConfigMap) -> None:
    tally = tally_of(server)
    await tries(tally, "ab")
    [hold] = await tries(tally, "c")
    assert hold is not None
    await asyncio.sleep(60 + MARGIN - 0.1)
    assert (await tries(tally, "c"))[0] is not None
    await asyncio.sleep(0.1)
    assert (await tries(tally, "c"))[0] is None


async def test_an_eviction_counts_from_the_latest_that_it_can_be(server: OneConfigMap) -> None:
    class Unsure(LoopClock):
        def latest(self) -> datetime:
            return self.now() + timedelta(seconds=1)

    tally = Tally(server, Unsure())  # type: ignore[arg-type]  # its stand-in
    await tries(tally, "ab")
    await asyncio.sleep(60 + MARGIN + 0.9)
    assert (await tries(tally, "c"))[0] is not None
    await asyncio.sleep(0.1)
    assert (await tries(tally, "c"))[0] is None


async def test_who_is_counted_asks_again_for_nothing(server: OneConfigMap) -> None:
    tally = tally_of(server)
    assert await tries(tally, "ab") == await tries(tally, "ab") == [None, None]
    assert server.counted() == 2


async def test_a_refusal_is_no_write(server: OneConfigMap) -> None:
    tally = tally_of(server)
    await tries(tally, "ab")
    await tries(tally, "cdefg")
    await tries(tally, "cdefg")
    assert (server.reads, server.writes) == (1, 1)


async def test_who_deletes_the_counts_lets_evictions_start_over(server: OneConfigMap) -> None:
    tally = tally_of(server)
    await tries(tally, "ab")
    server.delete()
    await asyncio.sleep(1.1)
    assert await tries(tally, "cd") == [None, None]


async def test_a_write_over_what_somebody_has_deleted_or_written_is_tried_anew(
    server: OneConfigMap,
) -> None:
    tally = tally_of(server)
    await tries(tally, "a")
    server.delete()
    assert await tries(tally, "b") == [None]
    server.put({})
    assert await tries(tally, "c") == [None]
    assert server.counted() == 1


async def test_after_a_write_of_somebody_else_s_the_book_is_read_at_once(
    server: OneConfigMap,
) -> None:
    tally, loop = tally_of(server), asyncio.get_running_loop()
    await tries(tally, "a")
    server.put({})
    written = loop.time()
    assert await tries(tally, "b") == [None]
    assert (server.reads, loop.time() - written < 0.1) == (2, True)


async def test_only_an_api_server_says_that_nothing_is_counted_yet(server: OneConfigMap) -> None:
    server.failures = [NotFoundError("404 page not found", status=404)]
    with pytest.raises(TallyError, match="404 page not found"):
        await tally_of(server).count(wishes(TWO, "a"), TWO)
    assert server.writes == 0


async def test_nor_is_it_written_over_another_that_took_its_place(server: OneConfigMap) -> None:
    tally = tally_of(server)
    await tries(tally, "a")
    there = server.found
    assert there is not None
    # As a restored cluster has it: the version comes again, and the UID does not.
    metadata = replace(there.metadata, uid="another")
    server.found = replace(there, metadata=metadata, data={})
    assert await tries(tally, "b") == [None]
    assert server.counted() == 1


async def test_what_others_keep_there_stays_and_is_not_sent(server: OneConfigMap) -> None:
    other = '{"seconds":600,"evictions":{"":"1767225600000:aa"}}'
    server.put({"other": other})
    await tries(tally_of(server), "a")
    assert server.found is not None
    assert server.found.data["other"] == other
    assert server.sent.keys() == {"b"}


async def test_what_is_over_goes_whoever_counted_it(server: OneConfigMap) -> None:
    server.put({"other": '{"seconds":600,"evictions":{"":"1767200000000:aa"}}'})
    await tries(tally_of(server), "a")
    assert server.found is not None
    assert server.found.data.keys() == {"b"}


@pytest.mark.parametrize(
    "failure",
    [
        ForbiddenError("no", status=403),
        ServerError("down", status=500),
        RequestTimeoutError("late"),
    ],
)
async def test_what_fails_is_told_to_all_who_wait(server: OneConfigMap, failure: Any) -> None:
    tally = tally_of(server)
    server.failures = [failure]
    found = await asyncio.gather(
        *(tally.count(wishes(TWO, name), TWO) for name in "ab"), return_exceptions=True
    )
    assert [type(one) for one in found] == [TallyError] * 2
    assert await tries(tally, "ab") == [None, None]


async def test_a_count_whose_answer_was_lost_is_found_again(server: OneConfigMap) -> None:
    tally = tally_of(server)
    written = server.put

    def lost(data: Any) -> Any:
        written(data)
        server.put = written  # type: ignore[method-assign]  # once
        raise RequestTimeoutError("the answer was lost")

    server.put = lost  # type: ignore[method-assign]  # for one write
    with pytest.raises(TallyError):
        await tally.count(wishes(TWO, "a"), TWO)
    assert await tries(tally, "ab") == [None, None]
    assert server.counted() == 2


async def test_who_must_not_write_hears_so(server: OneConfigMap) -> None:
    server.failures = [FencedError("another leads")]
    with pytest.raises(FencedError):
        await tally_of(server).count(wishes(TWO, "a"), TWO)


async def test_what_is_no_book_cannot_be_counted_in(server: OneConfigMap) -> None:
    server.put({"b": "rubbish"})
    with pytest.raises(TallyError, match="cannot be counted with: key b: "):
        await tally_of(server).count(wishes(TWO, "a"), TWO)


async def test_after_a_failure_the_book_is_read_anew(server: OneConfigMap) -> None:
    """Somebody may have mended it."""
    tally = tally_of(server)
    server.put(dict.fromkeys(("other", "more", "most"), long_sheet()))
    with pytest.raises(TallyError, match="at most 524288 are kept"):
        await tally.count(wishes(TWO, "a"), TWO)
    server.put({})
    assert await tries(tally, "a") == [None]


async def test_who_has_given_up_is_not_counted(server: OneConfigMap) -> None:
    server.latency = 0.1
    tally = tally_of(server)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await tally.count(wishes(TWO, "a"), TWO)
    await asyncio.sleep(1)
    assert server.counted() == 0
    assert await tries(tally, "bc") == [None, None]


async def test_a_look_counts_nothing(server: OneConfigMap) -> None:
    tally = tally_of(server)
    assert tally.seen(TWO.store) is UNKNOWN
    assert await tally.look(wishes(TWO, "a"), TWO) is None
    assert server.writes == 0
    await tries(tally, "ab")
    assert await tally.look(wishes(TWO, "c"), TWO) is not None
    assert tally.seen(TWO.store) is not UNKNOWN
    server.failures = [ForbiddenError("no", status=403)]
    await asyncio.sleep(2)
    with pytest.raises(TallyError, match="no"):
        await tally.look(wishes(TWO, "c"), TWO)


async def test_those_who_look_together_read_once(server: OneConfigMap) -> None:
    server.latency = 0.1
    tally = tally_of(server)
    asked = [tally.look(wishes(TWO, name), TWO) for name in "abcde"]
    assert await asyncio.gather(*asked) == [None] * 5
    assert server.reads == 1


async def test_who_may_not_create_it_says_how_to(server: OneConfigMap) -> None:
    async def forbidden(*_: Any, **__: Any) -> Any:
        raise ForbiddenError("no create", status=403)

    server.create = forbidden  # type: ignore[method-assign]  # as by the chart's roles
    how = "kubectl create configmap bailiff-evictions -n kube-system"
    with pytest.raises(TallyError, match=f"it is not there, .*{how}.*no create"):
        await tally_of(server).count(wishes(TWO, "a"), TWO)


def long_sheet() -> str:
    """Of another budget: 260,000 bytes."""
    entries = " ".join(f"1767225600000:{one:016x}" for one in range(8_400))
    return f'{{"seconds":86400,"evictions":{{"":"{entries}"}}}}'


async def test_long_books_are_written_seldom_and_short_ones_at_once(server: OneConfigMap) -> None:
    """Each write is a whole book more in etcd, which keeps all of them for five minutes."""
    for data, most in (({"other": long_sheet()}, 12), ({}, 500)):
        server.put(data)
        server.writes = 0
        tally, settings, loop = tally_of(server), budget(10_000), asyncio.get_running_loop()
        started = loop.time()

        async def one(number: int, tally: Tally = tally, settings: Any = settings) -> Hold | None:
            await asyncio.sleep(0.01 * number)
            return await tally.count(wishes(settings, f"pod-{number}"), settings)

        found = await asyncio.gather(*(one(number) for number in range(1000)))
        assert found == [None] * 1000
        assert server.counted() == 1000
        assert loop.time() - started < 13
        assert 1 < server.writes <= most


async def test_who_is_refused_waits_for_no_write(server: OneConfigMap) -> None:
    server.put({"other": long_sheet()})
    tally, loop = tally_of(server), asyncio.get_running_loop()
    await tries(tally, "a")
    started = loop.time()
    going = asyncio.create_task(tally.count(wishes(TWO, "b"), TWO))
    assert [one is None for one in await tries(tally, "cda")] == [False, False, True]
    assert loop.time() == started
    await asyncio.sleep(0.1)
    assert (await tries(tally, "e"))[0] is not None
    assert loop.time() < started + 0.5
    assert await going is None
    assert loop.time() > started + 0.5


async def test_after_a_fault_of_ours_everybody_is_told_and_it_is_logged(
    server: OneConfigMap,
) -> None:
    tally = tally_of(server)
    server.latency = 0.1
    server.failures = [KeyError("a fault of ours")]
    elsewhere = other_store(TWO, "another")
    asked = [tally.count(wishes(one, "a"), one) for one in (TWO, elsewhere)]
    with capture_logs() as logs:
        found = await asyncio.gather(*asked, return_exceptions=True)
    assert [str(one) for one in found] == ["was not read or written: see the log"] * 2
    assert all(isinstance(one, TallyError) for one in found)
    assert [one["event"] for one in logs] == ["counting has failed"]
    assert await tally.count(wishes(TWO, "a"), TWO) is None


async def test_another_configmap_is_read_as_soon_as_the_settings_name_it(
    server: OneConfigMap,
) -> None:
    tally, elsewhere = tally_of(server), other_store(TWO, "another")
    await tries(tally, "a")
    assert tally.seen(TWO.store) is not UNKNOWN
    assert tally.seen(elsewhere.store) is UNKNOWN
    await tally.look(wishes(elsewhere, "b"), elsewhere)
    assert server.reads == 2


async def test_a_read_goes_on_though_those_who_wait_for_it_give_up(server: OneConfigMap) -> None:
    """As dry runs that come often, each with little time, while the API server is slow for once."""
    tally = tally_of(server)
    server.latency = 2.0

    async def hasty() -> None:
        async with asyncio.timeout(0.5):
            await tally.look(wishes(TWO, "a"), TWO)

    for _ in range(4):
        with pytest.raises(TimeoutError):
            await hasty()
    await hasty()
    assert server.reads == 1


async def test_a_read_that_was_overtaken_by_a_write_is_not_believed(server: OneConfigMap) -> None:
    tally = tally_of(server)
    assert await tally.count(wishes(TWO, "a"), TWO) is None
    await asyncio.sleep(2)
    server.latency = 1.0
    read = asyncio.create_task(tally.look(wishes(TWO, "b"), TWO))
    await asyncio.sleep(0.5)
    assert await tally.count(wishes(TWO, "b"), TWO) is None
    await read
    assert await tally.count(wishes(TWO, "c"), TWO) is not None
