"""When a call is repeated, and when it is over, on time that only passes where it is told to."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bailiff.client import (
    BailiffError,
    ClientSettings,
    DeadlineError,
    Failure,
    OverloadedError,
    Retries,
    UnauthenticatedError,
)
from bailiff.client.calls import AsyncCalls, Calls
from bailiff.client.errors import (
    _KINDS,
    CLOSED,
    DEADLINE,
    UNAVAILABLE,
    UNREACHABLE,
    UNREADABLE,
    error_of,
)
from bailiff.client.grpc_words import options_of
from bailiff.client.retrying import Attempts, Budget
from bailiff.client.tokens import Bearer
from bailiff.grpc_api import errors as grpc_errors
from bailiff.rest_api.problems import ProblemCode

OVERLOADED = error_of(Failure("overloaded", "no room"))
INVALID = error_of(Failure("invalid_field", "no"))
HANGING = error_of(Failure(DEADLINE, "no answer in time"))


class Time:
    """A clock that moves when somebody sleeps or an attempt takes its time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Server:
    """Answers with what it is told, in order; the last for ever."""

    def __init__(self, time: Time, *answers: BailiffError | str, takes: float = 0.0) -> None:
        self._time, self._answers, self._takes = time, list(answers), takes
        self.given: list[float] = []

    def __call__(self, seconds: float) -> str:
        self.given.append(seconds)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        self._time.now += min(self._takes, seconds) if answer is HANGING else self._takes
        if isinstance(answer, str):
            return answer
        raise answer


def calls(time: Time, **changes: object) -> Calls:
    settings = ClientSettings(**changes)  # type: ignore[arg-type]  # as it has them
    bearer = Bearer(settings, host="127.0.0.1", secure=False)
    return Calls(settings, bearer, lambda: time.now, time.sleep)


def test_an_answer_is_given_at_once() -> None:
    time = Time()
    assert calls(time).make(Server(time, "yes"), None) == "yes"
    assert time.slept == []


def test_no_room_is_asked_again_after_pauses_that_may_double() -> None:
    time = Time()
    server = Server(time, OVERLOADED, OVERLOADED, OVERLOADED, "yes")
    assert calls(time).make(server, None) == "yes"
    assert len(server.given) == 4
    assert all(0 <= slept <= most for slept, most in zip(time.slept, (0.1, 0.2, 0.4), strict=True))


def test_what_the_question_is_at_fault_for_is_not_repeated() -> None:
    time = Time()
    server = Server(time, INVALID)
    with pytest.raises(type(INVALID)):
        calls(time).make(server, None)
    assert len(server.given) == 1


def test_attempts_are_bounded() -> None:
    time = Time()
    server = Server(time, OVERLOADED)
    with pytest.raises(OverloadedError):
        calls(time, retries=Retries(attempts=3)).make(server, None)
    assert len(server.given) == 3


def test_the_attempts_of_a_call_outlast_the_waits_of_grpc_itself() -> None:
    """In which a server that is back would not be asked. It makes them a fifth longer, at most."""
    pauses = Attempts(Retries(), Budget(20), deadline=30.0, each=10.0, draw=lambda: 0.5)
    slept = 0.0
    for _ in range(4):
        pauses.begin(slept)
        slept += pauses.pause(OVERLOADED, slept)
    longest = dict(options_of(ClientSettings(), "host"))["grpc.max_reconnect_backoff_ms"]
    assert slept > 2 * 1.2 * int(longest) / 1000


def test_the_server_is_left_alone_for_as_long_as_it_asks() -> None:
    time = Time()
    busy = error_of(Failure("too_many_requests", "quota", retry_after=2.0))
    assert calls(time).make(Server(time, busy, "yes"), None) == "yes"
    assert 2.0 <= time.slept[0] <= 2.1


def test_who_is_asked_to_stay_away_beyond_the_deadline_is_told_at_once() -> None:
    time = Time()
    busy = error_of(Failure("overloaded", "later", retry_after=60.0))
    with pytest.raises(OverloadedError) as raised:
        calls(time, timeout=30.0).make(Server(time, busy), None)
    assert raised.value.retry_after == 60.0
    assert time.slept == []


def test_an_attempt_that_hangs_is_given_up_and_another_made() -> None:
    time = Time()
    server = Server(time, HANGING, "yes", takes=60.0)
    assert calls(time, attempt_timeout=10.0, timeout=100.0).make(server, None) == "yes"
    assert server.given == [10.0, 10.0]


def test_all_attempts_have_one_deadline() -> None:
    time = Time()
    server = Server(time, HANGING, takes=60.0)
    with pytest.raises(DeadlineError):
        calls(time, retries=Retries(attempts=100)).make(server, 25.0)
    assert time.now - 100.0 <= 25.0
    assert server.given[:2] == [10.0, 10.0]
    assert server.given[2] <= 5.0


def test_without_time_nothing_is_tried() -> None:
    time = Time()
    server = Server(time, "yes")
    with pytest.raises(DeadlineError):
        calls(time).make(server, 0.0)
    assert server.given == []


def test_a_timeout_is_a_timeout_of_python_too() -> None:
    with pytest.raises(TimeoutError):
        raise HANGING


@pytest.mark.parametrize(
    "code", [UNREACHABLE, UNAVAILABLE, DEADLINE, "cluster_unavailable", "idle"]
)
def test_what_may_be_over_soon_is_repeated(code: str) -> None:
    time = Time()
    assert calls(time).make(Server(time, error_of(Failure(code, "")), "yes"), None) == "yes"


@pytest.mark.parametrize("code", [UNREADABLE, "internal", "no_cluster", "slow_body", "of_tomorrow"])
def test_what_stays_is_not_repeated(code: str) -> None:
    time = Time()
    server = Server(time, error_of(Failure(code, "")))
    with pytest.raises(BailiffError):
        calls(time).make(server, None)
    assert len(server.given) == 1


def test_a_server_in_trouble_is_not_flooded() -> None:
    """After the budget is used up each call is one attempt; answers earn it back."""
    time = Time()
    client = calls(time, retries=Retries(attempts=3, budget=4))
    server = Server(time, OVERLOADED)
    for _ in range(5):
        with pytest.raises(OverloadedError):
            client.make(server, None)
    assert len(server.given) == 5 + 4
    for _ in range(10):
        client.make(Server(time, "yes"), None)
    again = Server(time, OVERLOADED, "yes")
    assert client.make(again, None) == "yes"


def test_pauses_have_full_jitter() -> None:
    def pause(drawn: float) -> float:
        attempts = Attempts(Retries(), Budget(9), deadline=100.0, each=1.0, draw=lambda: drawn)
        attempts.begin(0.0)
        return attempts.pause(OVERLOADED, 0.0)

    assert [pause(0.0), pause(0.5), pause(0.999)] == pytest.approx([0.0, 0.05, 0.0999])


def test_pauses_of_ours_come_on_top_of_what_the_server_asks_for() -> None:
    """Those who were told the same do not come again at the same moment."""
    attempts = Attempts(Retries(), Budget(9), deadline=100.0, each=1.0, draw=lambda: 0.5)
    attempts.begin(0.0)
    busy = error_of(Failure("too_many_requests", "quota", retry_after=2.0))
    assert attempts.pause(busy, 0.0) == pytest.approx(2.05)


def test_many_answers_earn_no_more_than_the_budget() -> None:
    budget = Budget(2)
    for _ in range(1000):
        budget.earn()
    assert [budget.take() for _ in range(3)] == [True, True, False]


def test_pauses_of_ours_are_bounded() -> None:
    retries = Retries(attempts=2000, longest_pause=3.0)
    attempts = Attempts(retries, Budget(2000), deadline=1e9, each=1.0, draw=lambda: 1.0)
    pauses = []
    for _ in range(1500):
        attempts.begin(0.0)
        pauses.append(attempts.pause(OVERLOADED, 0.0))
    assert max(pauses) == 3.0


def test_a_token_that_was_renewed_meanwhile_is_tried_once(tmp_path: Path) -> None:
    time, file = Time(), tmp_path / "token"
    file.write_text("old")
    settings = ClientSettings(token_file=file)
    bearer = Bearer(settings, host="127.0.0.1", secure=False)
    sent: list[str] = []

    def attempt(_: float) -> str:
        sent.append(bearer.headers()["authorization"])
        file.write_text("the next one")
        if len(sent) > 1:
            return "yes"
        raise error_of(Failure("unauthenticated", "expired"))

    assert Calls(settings, bearer, lambda: time.now, time.sleep).make(attempt, None) == "yes"
    assert sent == ["Bearer old", "Bearer the next one"]


def test_a_token_that_stays_the_same_is_not_tried_again() -> None:
    settings, sent = ClientSettings(token=lambda: "same"), 0
    bearer = Bearer(settings, host="127.0.0.1", secure=False)

    def attempt(_: float) -> str:
        nonlocal sent
        bearer.headers()
        sent += 1
        raise error_of(Failure("unauthenticated", "no"))

    with pytest.raises(UnauthenticatedError):
        Calls(settings, bearer).make(attempt, None)
    assert sent == 1


def test_a_token_that_is_always_new_is_tried_twice() -> None:
    tokens = iter(range(100))
    settings, sent = ClientSettings(token=lambda: f"t{next(tokens)}"), 0
    bearer = Bearer(settings, host="127.0.0.1", secure=False)

    def attempt(_: float) -> str:
        nonlocal sent
        bearer.headers()
        sent += 1
        raise error_of(Failure("unauthenticated", "no"))

    with pytest.raises(UnauthenticatedError):
        Calls(settings, bearer).make(attempt, None)
    assert sent == 2


@pytest.mark.looptime
async def test_the_same_with_await() -> None:
    loop, made = asyncio.get_running_loop(), 0
    settings = ClientSettings(timeout=25.0)
    client = AsyncCalls(settings, Bearer(settings, host="127.0.0.1", secure=False))

    async def hanging(seconds: float) -> str:
        nonlocal made
        made += 1
        await asyncio.sleep(seconds)
        raise HANGING

    began = loop.time()
    with pytest.raises(DeadlineError):
        await client.make(hanging, None)
    assert made == 3
    assert loop.time() - began <= 25.0

    async def answering(_: float) -> str:
        return "yes"

    assert await client.make(answering, None) == "yes"


def test_every_code_of_the_server_is_known() -> None:
    codes = {code.value for code in ProblemCode}
    kinds: set[type[grpc_errors.RefusedError]] = {
        grpc_errors.RefusedError,
        *grpc_errors.RefusedError.__subclasses__(),
        *grpc_errors.OverloadedError.__subclasses__(),
    }
    codes |= {kind.code.lower() for kind in kinds - {grpc_errors.NotLetInError}}
    codes |= {reason.lower() for _, reason in grpc_errors.ACCESS.values()}
    own = {UNREACHABLE, UNAVAILABLE, DEADLINE, UNREADABLE, CLOSED}
    assert set(_KINDS) == codes | own
