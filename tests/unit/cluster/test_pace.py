"""How fast a client may ask, on virtual time."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff import cluster as k8s
from bailiff.cluster.pace import Pace
from tests.harness.clocks import LoopClock, virtual_loop

MOST = 16
BUSY = k8s.TooManyRequestsError("busy", status=429, retry_after=1.0)
SILENT = k8s.RequestTimeoutError("silent")
REFUSED = k8s.UnreachableError("refused")
pytestmark = pytest.mark.looptime


def pace(most: int = MOST) -> Pace:
    return Pace(LoopClock(), most, random.Random(1))


async def ask(own: Pace, *outcomes: Exception | None, takes: float = 0.0) -> None:
    """One request after the other; each takes so long and comes to that."""
    for outcome in outcomes:
        try:
            async with own.turn("GET /x"):
                await asyncio.sleep(takes)
                if outcome is not None:
                    raise outcome
        except k8s.ClusterError as error:
            assert error is outcome  # noqa: PT017 - what it came to is the test's own


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize(
    ("error", "limit", "held"),
    [
        # What kube-apiserver asks of everybody may be noise; more than that is not.
        (BUSY, 1, 0.0),
        (k8s.TooManyRequestsError("busy", status=429, retry_after=1.5), 1, 1.5),
        (k8s.TooManyRequestsError("busy", status=429, retry_after=2.0), 1, 2.0),
        (k8s.TooManyRequestsError("busy", status=429), 1, 0.0),
        (k8s.ServerError("down", status=503, retry_after=7.0), 1, 7.0),
        (k8s.ServerError("down", status=503, retry_after=3600.0), 1, 60.0),
        (k8s.ServerError("down", status=502), 1, 0.0),
        (REFUSED, 1, 0.0),
        (SILENT, MOST // 2, 0.0),
        (k8s.ServerError("late", status=504), MOST // 2, 0.0),
        # They say nothing of how busy the server is.
        (k8s.DisruptionBudgetError("budget", status=429, retry_after=10.0), MOST, 0.0),
        (k8s.AdmissionDeniedError("webhook", status=503), MOST, 0.0),
        (k8s.ServerError("webhook", status=500), MOST, 0.0),
        (k8s.ForbiddenError("no", status=403), MOST, 0.0),
        (k8s.NotFoundError("no", status=404), MOST, 0.0),
        (k8s.ConflictError("no", status=409), MOST, 0.0),
        (k8s.FencedError("not sent"), MOST, 0.0),
        (k8s.ResponseError("too long"), MOST, 0.0),
        (k8s.ConfigError("no login"), MOST, 0.0),
    ],
    ids=lambda value: f"{type(value).__name__}-{getattr(value, 'status', value)}",
)
async def test_what_each_failure_means(error: k8s.ClusterError, limit: int, held: float) -> None:
    own = pace()
    await ask(own, error)
    assert own.limit == limit
    assert held <= own.backoff() <= min(held * 1.1, 60.0)


@pytest.mark.parametrize("error", [k8s.FencedError("not sent"), k8s.ConfigError("no login")])
async def test_what_was_never_sent_is_no_answer(error: k8s.ClusterError) -> None:
    """Taken for answers, they would end a wait and let more requests go to a busy server."""
    own = pace()
    await ask(own, *[SILENT] * 3, *[error] * 50)
    assert own.limit == MOST // 4


async def test_time_outs_leave_one_request_where_a_quarter_is_less_than_one() -> None:
    own = pace(2)
    await ask(own, *[SILENT] * 2)
    assert own.limit == 1
    await ask(own, None, None)
    assert own.limit == 2


async def test_no_more_than_the_limit_are_under_way_and_first_come_goes_first() -> None:
    own, order, running = pace(2), [], []

    async def one(number: int) -> None:
        async with own.turn("GET /x"):
            order.append(number)
            running.append(number)
            assert len(running) <= 2
            await asyncio.sleep(1.0)
            running.remove(number)

    await asyncio.gather(*map(one, range(7)))
    assert order == list(range(7))
    assert now() == 4.0


async def test_after_a_refusal_one_request_goes_ahead_and_the_others_follow_its_answer() -> None:
    own, begun = pace(), []
    await ask(own, BUSY, BUSY)
    refused = now()

    async def one() -> None:
        async with own.turn("GET /x"):
            begun.append(now())
            await asyncio.sleep(0.5)

    await asyncio.gather(*(one() for _ in range(5)))
    first = begun[0]
    assert 1.0 <= first - refused <= 1.1
    assert begun[1:] == [first + 0.5] * 4


async def test_refusals_without_a_time_are_waited_for_longer_and_longer() -> None:
    own, waits = pace(), []
    for _ in range(9):
        await ask(own, REFUSED)
        waits.append(own.backoff())
    # The first may be noise: the next goes ahead at once.
    assert waits[0] == 0.0
    for wait, expected in zip(waits[1:], (0.1, 0.2, 0.4, *[0.5] * 5), strict=True):
        assert expected <= wait <= 1.1 * expected
    await ask(own, None, REFUSED)
    assert own.backoff() == 0.0


async def test_refusals_of_requests_sent_together_halve_the_limit_once() -> None:
    own = pace()
    await asyncio.gather(*(ask(own, SILENT, takes=1.0) for _ in range(MOST)))
    assert own.limit == MOST // 2


async def test_late_answers_to_what_was_sent_before_a_refusal_do_not_end_the_wait() -> None:
    own = pace()
    early = asyncio.create_task(ask(own, None, takes=0.2))
    await asyncio.sleep(0.1)
    await asyncio.gather(*(ask(own, BUSY) for _ in range(MOST)))
    await early
    assert own.limit == 1
    assert own.backoff() > 0.8


async def test_one_refusal_among_answers_is_noise() -> None:
    own = pace()
    others = asyncio.create_task(ask(own, None, None, takes=0.1))
    await asyncio.sleep(0)
    await ask(own, BUSY)
    assert own.backoff() > 0.0
    await others
    assert now() == pytest.approx(0.2)
    assert own.limit == MOST


async def test_two_refusals_in_a_row_hold_all_though_others_hang() -> None:
    own = pace()
    hanging = asyncio.create_task(ask(own, None, takes=100.0))
    await asyncio.sleep(0)
    await ask(own, BUSY, BUSY, None)
    assert now() >= 1.0
    await hanging


async def test_one_refusal_of_who_asks_alone_is_noise() -> None:
    """Half of the seconds were lost where one request in fifty was answered 429, Retry-After 1."""
    own = pace()
    await ask(own, *([None] * 49 + [BUSY]) * 10)
    assert now() == 0.0
    assert own.limit == 1
    await ask(own, None)
    assert own.limit == MOST


async def test_the_second_refusal_in_a_row_counts_for_all() -> None:
    own = pace()
    await ask(own, *[None] * 49, BUSY, BUSY)
    assert 1.0 <= own.backoff() <= 1.1


async def test_many_refusals_count_for_all_though_others_are_answered() -> None:
    own = pace()
    others = asyncio.create_task(ask(own, *[None] * 3, takes=0.1))
    await asyncio.sleep(0)
    await asyncio.gather(*(ask(own, BUSY) for _ in range(MOST - 1)))
    assert own.backoff() >= 1.0
    await others
    assert now() >= 1.0


async def test_more_than_the_customary_wait_is_no_noise() -> None:
    own = pace()
    others = asyncio.create_task(ask(own, None, takes=0.1))
    await asyncio.sleep(0)
    await ask(own, k8s.TooManyRequestsError("busy", status=429, retry_after=4.0))
    await others
    assert own.backoff() >= 3.8


@pytest.mark.parametrize(
    ("error", "lost", "share"),
    [(REFUSED, 1 / 8, 0.9), (REFUSED, 1 / 3, 0.5), (BUSY, 1 / 8, 0.8)],
    ids=["one in eight breaks", "one server of three is away", "one in eight is refused"],
)
@pytest.mark.parametrize("asking", [8, 80])
async def test_what_loses_some_is_not_slowed_down(
    error: Exception, lost: float, share: float, asking: int
) -> None:
    """Refusals come sooner than answers: they must not be taken for all there is."""
    own, rng, answered = pace(2 * asking), random.Random(3), []

    async def one() -> None:
        while now() < 5.0:
            outcome = error if rng.random() < lost else None
            await ask(own, outcome, takes=0.001 if outcome else 0.02)
            answered.append(outcome is None)

    await asyncio.gather(*(one() for _ in range(asking)))
    assert sum(answered) > share * (1 - lost) * asking * 5.0 / 0.02
    assert own.limit >= asking


async def test_what_hangs_since_before_a_refusal_does_not_keep_the_next_from_going() -> None:
    own = pace()
    hanging = [asyncio.create_task(ask(own, None, takes=100.0)) for _ in range(MOST - 1)]
    await asyncio.sleep(0)
    # No noise, so a round begins.
    busy = k8s.TooManyRequestsError("busy", status=429, retry_after=1.5)
    await ask(own, busy, None)
    assert now() < 2.0
    await asyncio.gather(*hanging)


async def test_time_outs_leave_a_quarter_and_refusals_less() -> None:
    own = pace()
    await ask(own, *[SILENT] * 10)
    assert own.limit == MOST // 4
    for _ in range(3):
        await asyncio.gather(*(ask(own, BUSY) for _ in range(MOST // 4)))
        await ask(own, None)
    assert own.limit < MOST // 4


async def test_an_outage_leaves_nothing_behind() -> None:
    """What fails while the server is away says nothing of how much it takes when it is back."""
    own = pace()
    await asyncio.gather(*(ask(own, REFUSED, takes=0.1) for _ in range(5)))
    await ask(own, *[REFUSED] * 20, None)
    assert own.limit == MOST
    await ask(own, BUSY)
    assert own.backoff() == 0.0


async def test_who_goes_ahead_and_times_out_says_nothing_of_the_load() -> None:
    own = pace()
    await ask(own, REFUSED, REFUSED, *[SILENT] * 3, None)
    assert own.limit == MOST


async def test_answers_bring_back_one_more_a_round_trip_up_to_the_most() -> None:
    own = pace()
    await ask(own, BUSY, *[SILENT] * 3)
    limits = [own.limit]
    for _ in range(2 * MOST):
        await asyncio.gather(*(ask(own, None, takes=1.0) for _ in range(own.limit)))
        limits.append(own.limit)
    assert all(after - before in (0, 1) for before, after in pairwise(limits[1:]))
    await ask(own, *[None] * 100)
    assert own.limit == MOST


async def test_who_goes_ahead_and_has_no_answer_is_followed_by_another() -> None:
    own, begun = pace(), []
    await ask(own, BUSY, BUSY)
    refused = now()

    async def one(takes: float) -> None:
        async with own.turn("GET /x"):
            begun.append(round(now() - refused, 1))
            await asyncio.sleep(takes)

    await asyncio.gather(one(60.0), one(60.0), one(0.1), one(0.1), one(0.1))
    assert begun == [1.1, 2.1, 3.1, 3.2, 3.2]


async def test_an_answer_ends_no_wait_but_that_for_it() -> None:
    """A Retry-After of 30 s, told late to a request of before, outlasts noise and its answer."""
    own = pace()
    early = asyncio.create_task(
        ask(own, k8s.TooManyRequestsError("busy", status=429, retry_after=30.0), takes=0.3)
    )
    await asyncio.sleep(0)
    await asyncio.gather(*(ask(own, SILENT, takes=0.1) for _ in range(2)))
    others = asyncio.create_task(ask(own, None, takes=0.5))
    await asyncio.sleep(0)
    await ask(own, REFUSED, takes=0.2)
    await early
    await others
    assert own.backoff() > 29.0


async def test_answers_of_before_a_refusal_do_not_let_the_others_go() -> None:
    own, begun = pace(), []
    early = asyncio.create_task(ask(own, None, takes=1.5))
    await asyncio.sleep(0)
    await asyncio.gather(*(ask(own, BUSY, takes=0.1) for _ in range(MOST - 1)))

    async def one() -> None:
        async with own.turn("GET /x"):
            begun.append(round(now(), 1))
            await asyncio.sleep(0.9)

    await asyncio.gather(*(one() for _ in range(5)))
    assert begun == [1.2] + [2.1] * 4
    await early


async def test_that_it_is_slower_is_logged_once_and_that_it_is_not_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = pace()
    await ask(own, *([None] * 20 + [BUSY]) * 5, None)
    await ask(own, *[SILENT] * 3, *[None] * 200)
    log = capsys.readouterr().out
    assert log.count("requests are slowed down") == 1
    assert log.count("takes all requests again") == 1


async def test_a_server_that_refuses_four_in_ten_is_asked_less() -> None:
    own = pace()
    await ask(own, *[None, BUSY, None, BUSY, None] * 60)
    assert own.limit < MOST // 2


async def test_late_refusals_of_before_a_slow_down_tell_nothing_new() -> None:
    own = pace()
    early = [asyncio.create_task(ask(own, REFUSED, takes=0.3)) for _ in range(5)]
    await asyncio.sleep(0)
    await ask(own, SILENT)
    await asyncio.gather(*early)
    assert own.backoff() == 0.0
    assert own.limit == MOST // 2


async def test_the_longest_wait_counts_whatever_is_told_after_it() -> None:
    own = pace()
    seconds = (30.0, 2.0)
    errors = [k8s.ServerError("down", status=503, retry_after=one) for one in seconds]
    await asyncio.gather(*(ask(own, error, takes=0.1) for error in errors))
    assert own.backoff() >= 30.0


async def test_nine_seconds_are_waited_for() -> None:
    own = pace()
    await ask(own, k8s.ServerError("down", status=503, retry_after=9.0), None)
    assert 9.0 <= now() <= 9.9


async def test_what_would_wait_long_is_told_so_at_once_and_not_sent() -> None:
    own = pace()
    await ask(own, k8s.ServerError("down", status=503, retry_after=12.0))
    with pytest.raises(k8s.TooManyRequestsError, match="GET /y: not sent") as caught:
        async with own.turn("GET /y"):
            pytest.fail("it was sent")
    assert caught.value.retry_after is not None
    assert 12.0 <= caught.value.retry_after <= 13.2
    assert now() == 0.0


async def test_a_request_that_is_given_up_leaves_its_place() -> None:
    own = pace(1)
    holder = asyncio.create_task(ask(own, None, takes=1.0))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(ask(own, None))
    await asyncio.sleep(0.1)
    waiting.cancel()
    holder.cancel()
    await asyncio.gather(waiting, holder, return_exceptions=True)
    await ask(own, None)
    assert now() == 0.1
    assert own.limit == 1


@given(st.data())
def test_whatever_happens_the_limit_is_kept_and_everyone_gets_a_turn(data: st.DataObject) -> None:
    outcomes = st.sampled_from([None, None, None, BUSY, REFUSED, SILENT])
    plan = data.draw(st.lists(st.tuples(outcomes, st.floats(0.0, 3.0)), max_size=30))
    own, running = pace(4), []

    async def one(outcome: Exception | None, takes: float) -> None:
        try:
            async with own.turn("GET /x"):
                assert own.backoff() == 0.0
                running.append(outcome)
                assert len(running) <= 4
                try:
                    await asyncio.sleep(takes)
                finally:
                    running.pop()
                if outcome is not None:
                    raise outcome
        except k8s.ClusterError as error:
            assert error is outcome  # noqa: PT017 - as above

    async def all_of_them() -> None:
        async with asyncio.timeout(1000.0):
            await asyncio.gather(*(one(*each) for each in plan))

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(all_of_them())
    assert 1 <= own.limit <= 4
