"""A login is kept, renewed in time, and waited for only where there is none that is valid."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import structlog
from structlog.testing import capture_logs

from bailiff.cluster import ConfigError, UnreachableError
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.login import Login
from tests.harness.clocks import LoopClock
from tests.harness.logins import TIMEOUT, Script, at, login, seconds, started, token

if TYPE_CHECKING:
    pass

__all__ = ["started"]

pytestmark = pytest.mark.looptime(start=0)


async def test_a_login_without_an_end_and_without_files_is_read_once(started) -> None:
    script = Script(login("a"))
    credentials = await started(script)
    await at(1e5)
    assert await token(credentials) == "a"
    assert script.began == [0]


@pytest.mark.parametrize(("life", "renewed_at"), [(3600, 3540), (40, 20), (6, 3)])
async def test_a_login_is_renewed_before_it_expires_though_nobody_asks(
    started, life: float, renewed_at: float
) -> None:
    script = Script(login("a", life), login("b"))
    credentials = await started(script)
    await at(life * 2)
    assert script.began == [0, renewed_at]
    assert await token(credentials) == "b"


async def test_the_old_login_is_used_while_a_new_one_is_being_made(started) -> None:
    script = Script(login("a", 100), login("b"), takes=4)
    credentials = await started(script)
    await at(52 + 2)
    assert script.began[1:] == [52]
    assert await token(credentials) == "a"
    assert seconds() < 55
    await at(52 + 4)
    assert await token(credentials) == "b"


async def test_without_a_valid_login_requests_wait_for_one_and_the_same(started) -> None:
    script = Script(login("a", 10), login("b"))
    credentials = await started(script)
    script.takes = 8
    await at(10)
    found = await asyncio.gather(*(token(credentials) for _ in range(5)))
    assert found == ["b"] * 5
    assert (script.most, len(script.began)) == (1, 2)


async def test_a_login_that_takes_longer_than_any_request_is_there_for_the_next(started) -> None:
    """A plugin of 4 s, 3 s of it to come, and requests that are given 2 s at most."""
    script = Script(login("a", 2), login("b"))
    credentials = await started(script)
    script.takes = 4
    await at(2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2):
            await credentials.current()
    async with asyncio.timeout(2):
        assert await token(credentials) == "b"
    assert len(script.began) == 2


async def test_a_rejected_login_is_read_again_once_by_all_who_were_rejected(started) -> None:
    script = Script(login("a"), login("b"), takes=1)
    credentials = await started(script)
    rejected = await credentials.current()
    renewed = await asyncio.gather(*(credentials.after_rejection(rejected) for _ in range(5)))
    assert [one and one.authorization for one in renewed] == ["b"] * 5
    assert len(script.began) == 2


@pytest.mark.parametrize("again", [[login("a")], [login(f"a{n}") for n in range(100)]])
async def test_a_server_that_takes_nothing_does_not_start_a_login_for_each_request(
    started, again: list[Login]
) -> None:
    script = Script(login("a"), *again)
    credentials = await started(script)
    for second in range(0, 20, 2):
        await at(second)
        await credentials.after_rejection(await credentials.current())
    assert [round(began) for began in script.began] == [0, 0, 6, 12, 18]


async def test_a_steady_stream_of_rejections_ends_with_the_first_login_that_is_taken(
    started,
) -> None:
    """A Lease asks every 2 s: that must not put the next reading off for ever."""
    script = Script(login("a"), login("a"), login("b"))
    credentials = await started(script)
    rejected = await credentials.current()
    for second in range(0, 20, 2):
        await at(second)
        if await credentials.after_rejection(rejected) is not None:
            break
    assert round(seconds()) == 6


@pytest.mark.parametrize(
    "trouble",
    [
        ConfigError("no"),
        login("c", host="https://other"),
        RecursionError("secret"),
        OverflowError("secret"),
        ZeroDivisionError("secret"),
    ],
)
async def test_a_renewal_that_fails_keeps_the_login_and_is_tried_again(
    started, trouble: Login | Exception
) -> None:
    script = Script(login("a", 100), trouble, trouble, login("b"))
    credentials = await started(script)
    with capture_logs() as logs:
        await at(50 + 5)
        assert await token(credentials) == "a"
    assert [each["log_level"] for each in logs] == ["warning"]
    assert "secret" not in str(logs)
    await at(50 + 10)
    assert script.began == [0, 50, 55, 60]
    assert await token(credentials) == "b"


async def test_an_expired_login_is_used_where_there_is_no_other(started) -> None:
    """The server is the judge of it; our clock may be wrong."""
    script = Script(login("a", -100))
    credentials = await started(script)
    for _ in range(10):
        assert await token(credentials) == "a"
    assert seconds() < 5


async def test_a_login_that_hangs_is_given_up_and_tried_again(started) -> None:
    script = Script(login("a", 100), login("b"))
    credentials = await started(script)
    script.takes = 1e6
    await at(50 + TIMEOUT + 1)
    assert (script.began, script.ended) == ([0, 50], 2)
    assert await token(credentials) == "a"
    script.takes = 0
    await at(50 + TIMEOUT + 5)
    assert await token(credentials) == "b"


async def test_a_first_login_that_hangs_is_an_error_and_leaves_nothing() -> None:
    script = Script(login("a"), takes=1e6)
    with pytest.raises(ConfigError, match="no credentials after 30 s"):
        await Credentials(script, LoopClock(), TIMEOUT, structlog.get_logger()).start()
    assert script.ended == 1


async def test_closing_ends_a_renewal_under_way_and_leaves_no_task(started) -> None:
    script = Script(login("a", 10), login("b"))
    credentials = await started(script)
    script.takes = 1e6
    await at(11)
    waiting = asyncio.create_task(credentials.current())
    await at(12)
    await credentials.close()
    with pytest.raises(UnreachableError, match="closed"):
        await waiting
    with pytest.raises(UnreachableError, match="closed"):
        await credentials.current()
    assert script.ended == len(script.began)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_who_gives_up_waiting_ends_nothing_for_the_others(started) -> None:
    script = Script(login("a", 2), login("b"))
    credentials = await started(script)
    script.takes = 4
    await at(2)
    impatient, patient = (asyncio.create_task(token(credentials)) for _ in range(2))
    await at(3)
    impatient.cancel()
    assert await patient == "b"
    assert len(script.began) == 2


async def test_a_first_reading_that_breaks_in_any_way_is_an_error_without_secrets() -> None:
    credentials = Credentials(
        Script(RecursionError("secret")), LoopClock(), TIMEOUT, structlog.get_logger()
    )
    with pytest.raises(ConfigError, match=r"^RecursionError while reading the login$"):
        await credentials.start()
    assert asyncio.all_tasks() == {asyncio.current_task()}
