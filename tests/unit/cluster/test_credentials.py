"""A login is kept, renewed in time, and waited for only where there is none that is valid."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from structlog.testing import capture_logs

from bailiff.cluster import ConfigError, UnreachableError
from bailiff.cluster.credentials import Credentials
from bailiff.cluster.login import FilesRead, Login
from tests.harness.clocks import START, LoopClock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

pytestmark = pytest.mark.looptime(start=0)

TIMEOUT = 30.0


def login(
    token: str, until: float | None = None, files: FilesRead | None = None, host: str = "https://k"
) -> Login:
    """A login that expires at that second of the test."""
    expires = None if until is None else START + timedelta(seconds=until)
    own = files or FilesRead()
    return Login(host, authorization=token, expires_at=expires, files=own)


class Script:
    """A reader that gives one login after another, or fails.

    Attributes:
        takes: seconds for each.
        began: when each reading began, in seconds of the test.
        most: how many ran at a time.
        ended: how many came to their end, one that was cancelled included.
    """

    def __init__(self, *logins: Login | Exception, takes: float = 0.0) -> None:
        self._logins = list(logins)
        self.takes = takes
        self.began: list[float] = []
        self.ended = self.most = 0

    async def __call__(self) -> Login:
        self.began.append(seconds())
        self.most = max(self.most, len(self.began) - self.ended)
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.ended += 1
        # What comes after the script is its last line again.
        found = self._logins.pop(0) if len(self._logins) > 1 else self._logins[0]
        if isinstance(found, Exception):
            raise found
        return found


def seconds() -> float:
    return asyncio.get_running_loop().time()


async def at(second: float) -> None:
    """Wait until shortly after a second of the test, so that what happens then has happened."""
    await asyncio.sleep(second + 0.001 - seconds())


@pytest.fixture
async def started():
    """Starts credentials, and closes them."""
    running: list[Credentials] = []

    async def start(read: Callable[[], Awaitable[Login]]) -> Credentials:
        credentials = Credentials(read, LoopClock(), TIMEOUT)
        await credentials.start()
        running.append(credentials)
        return credentials

    yield start
    for each in running:
        await each.close()


async def token(credentials: Credentials) -> str | None:
    return (await credentials.current()).authorization


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


@pytest.mark.parametrize("trouble", [ConfigError("no"), login("c", host="https://other")])
async def test_a_renewal_that_fails_keeps_the_login_and_is_tried_again(
    started, trouble: Login | Exception
) -> None:
    script = Script(login("a", 100), trouble, trouble, login("b"))
    credentials = await started(script)
    with capture_logs() as logs:
        await at(50 + 5)
        assert await token(credentials) == "a"
    assert [each["log_level"] for each in logs] == ["warning"]
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
        await Credentials(script, LoopClock(), TIMEOUT).start()
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


async def test_a_fault_of_ours_is_not_hidden_by_the_old_login() -> None:
    credentials = Credentials(Script(login("a", 10), ZeroDivisionError()), LoopClock(), TIMEOUT)
    await credentials.start()
    await at(6)
    with pytest.raises(ZeroDivisionError):
        await credentials.current()
    with pytest.raises(ZeroDivisionError):
        await credentials.close()


def put(file: Path, content: str) -> None:
    file.write_text(content)


def put_behind_link(file: Path, content: str) -> None:
    target = file.with_name(content)
    target.write_text(content)
    file.unlink()
    file.symlink_to(target)


class TestFiles:
    """What comes from files is read again when they have changed."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "token"
        path.write_text("one")
        return path

    @pytest.fixture
    def read(self, file: Path) -> Callable[[], Awaitable[Login]]:
        """A reader that notes when it is used in `self.began`."""
        self.began: list[float] = []

        async def read() -> Login:
            self.began.append(seconds())
            files = FilesRead()
            return login(files.read(file).decode(), files=files)

        return read

    async def test_within_a_minute(self, started, file: Path, read) -> None:
        credentials = await started(read)
        await at(1)
        put(file, "two")
        await at(59)
        assert await token(credentials) == "one"
        await at(60)
        assert await token(credentials) == "two"

    async def test_only_when_they_changed(self, started, read) -> None:
        await started(read)
        await at(3600)
        assert self.began == [0]

    async def test_a_link_that_points_to_another_file_is_a_change(
        self, started, file: Path, read
    ) -> None:
        """So does the kubelet replace what is mounted into a pod."""
        put_behind_link(file, "one")
        credentials = await started(read)
        put_behind_link(file, "two")
        await at(60)
        assert await token(credentials) == "two"

    async def test_a_change_while_they_are_read_is_seen_a_minute_later(
        self, started, file: Path
    ) -> None:
        writes = ["two", "three"]

        async def read() -> Login:
            files = FilesRead()
            found = files.read(file).decode()
            if writes:
                put(file, writes.pop(0))
            return login(found, files=files)

        credentials = await started(read)
        await at(60)
        assert await token(credentials) == "two"
        await at(120)
        assert await token(credentials) == "three"

    async def test_a_file_without_end_is_refused(self, file: Path) -> None:
        with file.open("wb") as sparse:
            sparse.truncate(2**32)
        with pytest.raises(ConfigError, match="more than"):
            FilesRead().read(file)
