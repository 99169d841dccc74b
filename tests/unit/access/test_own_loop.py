"""A guard that is opened where its port is served, and closed with that loop."""

import asyncio
import contextlib
import json
from functools import partial

from starlette.responses import PlainTextResponse

from bailiff.access import STATUS_RULES, AccessSettings, Guard, GuardedInItsLoop, Rules
from bailiff.cluster import ConfigError
from bailiff.worker import refused_page
from tests.harness.clocks import ManualClock
from tests.harness.faces.asgi import call
from tests.harness.reviewing import Reviewer

RULES = Rules(STATUS_RULES)
PAGE = PlainTextResponse("the page")
GOOD = {"authorization": "Bearer good"}


class Opening:
    """Opens guards, and tells how many are open."""

    def __init__(self, *, fails=0):
        self.fails, self.opened, self.open_now = fails, 0, 0

    @contextlib.asynccontextmanager
    async def open(self):
        await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise ConfigError("no such file")
        guard = Guard(AccessSettings(), ManualClock(), reviewer=Reviewer())
        self.opened += 1
        async with guard.running():
            self.open_now += 1
            try:
                yield guard
            finally:
                self.open_now -= 1


def served(opening):
    return GuardedInItsLoop(PAGE, opening.open, RULES, refused_page)


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
    opening = Opening(fails=2)
    app = served(opening)
    assert await statuses(app, "/healthz") == [200]
    answer = await call(app, "GET", "/v1/queue", b"", GOOD)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert json.loads(answer.body)["code"] == "authentication_unavailable"
    assert await statuses(app, "/v1/queue") == [403]  # it has been opened now
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
