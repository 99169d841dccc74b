"""A guard that is opened where its port is served, and closed with that loop."""

import asyncio
import contextlib
import json
from functools import partial

from starlette.responses import PlainTextResponse
from structlog.testing import capture_logs

from bailiff.access import STATUS_RULES, AccessSettings, Guard, GuardedInItsLoop, Rules
from bailiff.cluster import ConfigError
from bailiff.worker import refused_page
from tests.harness.clocks import ManualClock
from tests.harness.faces.asgi import call
from tests.harness.reviewing import Reviewer, broken_tokens

RULES = Rules(STATUS_RULES)
PAGE = PlainTextResponse("the page")
GOOD = {"authorization": "Bearer good"}


class Opening:
    """Opens guards, and tells how often that was tried, and how many are open."""

    def __init__(self, *, fails=0, error=None):
        self.fails, self.opened, self.open_now, self.attempts = fails, 0, 0, 0
        self.error = error or ConfigError("no such file")

    @contextlib.asynccontextmanager
    async def open(self):
        self.attempts += 1
        await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise self.error
        guard = Guard(AccessSettings(), ManualClock(), reviewer=Reviewer())
        self.opened += 1
        async with guard.running():
            self.open_now += 1
            try:
                yield guard
            finally:
                self.open_now -= 1


def served(opening, clock=None):
    return GuardedInItsLoop(PAGE, opening.open, RULES, refused_page, clock or ManualClock())


async def statuses(app, *paths, headers=GOOD):
    answers = await asyncio.gather(*(call(app, "GET", path, b"", headers) for path in paths))
    return [answer.status for answer in answers]


def test_one_guard_for_all_requests_closed_with_its_loop():
    opening = Opening()
    app = served(opening)
    asked = partial(statuses, app, "/healthz", "/v1/queue", "/healthz", "/v1/queue")
    with asyncio.Runner() as runner:
        assert runner.run(asked()) == [200, 403, 200, 403]
        assert runner.run(asked(headers={})) == [200, 401, 200, 401]
        assert (opening.opened, opening.open_now) == (1, 1)
    assert opening.open_now == 0


async def test_while_none_can_be_opened_only_what_anybody_may_see_is_answered():
    opening, clock = Opening(fails=2), ManualClock()
    app = served(opening, clock)
    answer = await call(app, "GET", "/v1/queue", b"", GOOD)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert json.loads(answer.body)["code"] == "authentication_unavailable"
    clock.advance(5)
    assert await statuses(app, "/healthz", "/v1/queue", "/v1/queue") == [200, 503, 503]
    clock.advance(5)
    assert await statuses(app, "/v1/queue") == [403]  # it has been opened now
    assert opening.attempts == 3
    app._keeper.cancel()


async def test_strangers_do_not_make_it_log_in_again_and_again():
    opening, clock = Opening(fails=99), ManualClock()
    app = served(opening, clock)
    for _ in range(100):
        await statuses(app, "/v1/queue", "/metrics", "/v1/nothing", headers={})
        clock.advance(0.1)
    assert opening.attempts == 2


async def test_what_anybody_may_see_waits_for_no_guard():
    opening = Opening(fails=99)
    app = served(opening)
    assert await statuses(app, "/healthz", "/readyz") == [200, 200]
    assert (await call(app, "HEAD", "/healthz", b"", {})).status == 200
    assert (opening.attempts, app._keeper) == (0, None)


async def test_whatever_goes_wrong_is_told_and_tried_again():
    opening, clock = Opening(fails=1, error=ValueError("a fault of ours")), ManualClock()
    app = served(opening, clock)
    with capture_logs() as logs:
        assert await statuses(app, "/v1/queue") == [503]
    assert [(line["event"], line["log_level"]) for line in logs] == [
        ("callers cannot be known", "error")
    ]
    clock.advance(5)
    assert await statuses(app, "/v1/queue") == [403]
    app._keeper.cancel()


async def test_a_guard_that_fails_later_lets_nobody_in_and_is_opened_again(tmp_path):
    tokens, clock = broken_tokens(tmp_path), ManualClock()

    @contextlib.asynccontextmanager
    async def open_guard():
        async with Guard(AccessSettings(), clock, tokens=tokens).running() as guard:
            yield guard

    app = GuardedInItsLoop(PAGE, open_guard, RULES, refused_page, clock)
    with capture_logs() as logs:
        assert await statuses(app, "/v1/queue") == [200]
        assert app._keeper is not None
        tokens.broken.set()
        await app._keeper
        assert await statuses(app, "/v1/queue") == [503]
    assert [line["event"] for line in logs] == ["callers cannot be known"]
    tokens.broken.clear()
    clock.advance(5)
    assert await statuses(app, "/v1/queue") == [200]
    app._keeper.cancel()


async def test_refusals_are_problems():
    app = served(Opening())
    stranger = await call(app, "GET", "/v1/queue", b"", {})
    assert stranger.headers["www-authenticate"] == 'Bearer realm="bailiff"'
    other = await call(app, "POST", "/v1/queue", b"", GOOD)
    assert (other.status, other.headers["allow"]) == (405, "GET, HEAD")
    unknown = await call(app, "GET", "/v1/nothing", b"", GOOD)
    forbidden = await call(app, "GET", "/v1/queue", b"", GOOD)
    problems = [json.loads(answer.body) for answer in (stranger, other, unknown, forbidden)]
    assert [problem["code"] for problem in problems] == [
        "unauthenticated",
        "method_not_allowed",
        "not_found",
        "forbidden",
    ]
    assert problems[-1]["detail"] == (
        'user "alice" cannot list resource "pods" in API group "" at the cluster scope'
    )
    app._keeper.cancel()
