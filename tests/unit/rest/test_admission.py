"""AdmissionReviews over REST: answered with 200 and the same uid, whatever becomes of the hook."""

import asyncio
from time import monotonic
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.testing import capture_logs

from bailiff.access import AccessSettings, Guard, Right
from bailiff.clock import SystemClock
from bailiff.decisions import Options
from bailiff.decisions.admission import PatchOperation
from bailiff.kinds.admission_review import AdmissionRequest
from bailiff.rest_api import RestServer, RestSettings, create_app
from bailiff.serving import Gate, OverloadedError
from bailiff.serving.admission import SINCE
from bailiff.turns import WaitedTooLongError
from bailiff.webhooks import (
    ALLOWED,
    HookError,
    Outcome,
    refused,
)
from tests.harness.admission import UID, Scripted, app_of, ask, patch_of, review_of
from tests.harness.faces.asgi import Answer, call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.reviewing import Reviewer


async def test_a_pod_is_given_its_tolerations() -> None:
    response = await ask(app_of(), "mutate/pods", "?timeout=10s")
    assert response["allowed"]
    assert patch_of(response) == [
        {
            "op": "add",
            "path": "/spec/tolerations",
            "value": [
                {
                    "key": f"node.kubernetes.io/{what}",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
                for what in ("not-ready", "unreachable")
            ],
        }
    ]


async def test_what_changes_nothing_has_no_patch() -> None:
    spec = {"tolerations": [{"operator": "Exists"}]}
    response = await ask(app_of(), "mutate/pods", object={"spec": spec})
    assert response == {"uid": UID, "allowed": True}


@pytest.mark.parametrize("operation", ["DELETE", "CONNECT"])
async def test_other_operations_change_nothing(operation: str) -> None:
    response = await ask(app_of(), "mutate/pods", operation=operation, object=None)
    assert response == {"uid": UID, "allowed": True}


async def test_a_refusal_says_why_and_when_to_try_again() -> None:
    hook = Scripted(refused(429, "TooManyRequests", "held by pause", 30))
    with capture_logs() as logs:
        response = await ask(app_of(hook))
    assert response == {
        "uid": UID,
        "allowed": False,
        "status": {
            "status": "Failure",
            "code": 429,
            "reason": "TooManyRequests",
            "message": "held by pause",
            "details": {"retryAfterSeconds": 30},
        },
    }
    (line,) = (one for one in logs if one["event"] == "admission refused")
    assert (line["user"], line["name"], line["message"]) == ("ada", "web", "held by pause")


async def test_many_refusals_fill_no_log() -> None:
    app = app_of(Scripted(refused(403, "Forbidden", "m" * 5000)), clock=CLOCK)
    with capture_logs() as logs:
        for _ in range(25):
            await ask(app)
    assert len(logs) == 20
    assert all(len(str(line)) < 1000 for line in logs)


async def test_warnings_are_cut() -> None:
    hook = Scripted(Outcome(warnings=("a" * 121, "", "two\nlines", "two\nlines", "b" * 120)))
    response = await ask(app_of(hook))
    assert response["warnings"] == ["a" * 119 + "…", "two lines", "b" * 120]


async def test_of_too_many_warnings_the_number_is_told() -> None:
    hook = Scripted(Outcome(warnings=tuple(map(str, range(30)))))
    response = await ask(app_of(hook))
    assert response["warnings"] == [*map(str, range(19)), "and 11 more warnings"]


async def test_an_object_that_cannot_be_read_is_refused_with_its_path() -> None:
    wrong = {"spec": {"tolerations": [{"key": 5}]}}
    response = await ask(app_of(), "mutate/pods", object=wrong)
    assert (response["allowed"], response["status"]["code"]) == (False, 400)
    where = "request.object.spec.tolerations[0].key"
    assert response["status"]["message"].startswith(f"{where}: Expected `str | null`")


async def test_so_is_one_that_is_missing() -> None:
    response = await ask(app_of(), "mutate/pods", object=None)
    assert response["status"]["message"] == "request.object: required, and missing or null"


async def late(_request: AdmissionRequest, _deadline: float) -> Outcome:
    await asyncio.sleep(60)
    return ALLOWED


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (late, "had no answer in time"),
        (OverloadedError(), "had no answer in time"),
        (RuntimeError("a fault"), "failed, its log has more"),
    ],
    ids=["late", "overloaded", "failed"],
)
async def test_who_has_no_answer_is_answered_for(failure: Any, said: str) -> None:
    open_, shut = Scripted(failure), Scripted(failure, allows_unanswered=False)
    response = await ask(app_of(open_), query="?timeout=100ms")
    assert response["allowed"]
    assert response["warnings"] == [f"bailiff validate/pods {said}: allowed unseen"]
    response = await ask(app_of(shut), query="?timeout=100ms")
    assert (response["allowed"], response["status"]["code"]) == (False, 503)
    assert response["status"]["message"] == f"bailiff validate/pods {said}: try again"
    assert response["status"]["details"]["retryAfterSeconds"] == 2


async def test_an_answer_is_there_before_the_call_ends() -> None:
    app, loop = app_of(Scripted(late)), asyncio.get_running_loop()
    started = loop.time()
    await ask(app, query="?timeout=200ms")
    assert 0.1 < loop.time() - started < 0.2


async def test_a_hook_has_a_second_at_most() -> None:
    seen: list[float] = []

    async def note(_request: AdmissionRequest, deadline: float) -> Outcome:
        seen.append(deadline - asyncio.get_running_loop().time())
        return ALLOWED

    await ask(app_of(Scripted(note)), query="?timeout=30s")
    await ask(app_of(Scripted(note)))
    assert all(0.8 < seconds <= 0.9 for seconds in seen)


@pytest.mark.parametrize(
    "own", [{"namespace": "bailiff-system"}, {"userInfo": {"username": "bailiff"}}]
)
async def test_bailiffs_own_requests_are_not_looked_at(own: dict[str, Any]) -> None:
    hook = Scripted(refused(403, "Forbidden", "no"))
    assert (await ask(app_of(hook), **own))["allowed"]
    assert hook.asked == []


async def test_but_they_are_changed() -> None:
    assert "patch" in await ask(app_of(), "mutate/pods", namespace="bailiff-system")


async def test_what_a_hook_is_not_for_is_allowed_with_a_warning() -> None:
    hook = Scripted(refused(403, "Forbidden", "no"))
    resource = {"group": "apps", "version": "v1", "resource": "deployments"}
    response = await ask(app_of(hook), resource=resource, subResource="scale")
    assert response["allowed"]
    assert response["warnings"] == [
        "bailiff validate/pods looks at pods, pods/binding, not at deployments.apps/scale: allowed"
    ]


async def test_an_eviction_that_comes_to_another_hook_is_not_let_go_unseen() -> None:
    hook, registry = Scripted(ALLOWED), CollectorRegistry()
    response = await ask(app_of(hook, registry=registry), subResource="eviction")
    assert (response["allowed"], response["status"]["code"]) == (False, 403)
    assert response["status"]["message"] == (
        "bailiff validate/pods looks at pods, pods/binding, not at pods/eviction, which "
        "validate/evictions looks at: mend the path of the webhook, or its rules"
    )
    assert hook.asked == []
    told = generate_latest(registry).decode()
    assert 'bailiff_admission_requests_total{hook="validate/pods",result="other"} 1.0' in told


async def test_but_for_bailiffs_own() -> None:
    own = {"username": "bailiff"}
    assert (await ask(app_of(Scripted(ALLOWED)), subResource="eviction", userInfo=own))["allowed"]


async def test_reviews_are_counted() -> None:
    registry = CollectorRegistry()
    app = app_of(Scripted(HookError("no")), registry=registry)
    await ask(app)
    told = generate_latest(registry).decode()
    assert 'bailiff_admission_requests_total{hook="validate/pods",result="denied"} 1.0' in told
    assert 'bailiff_admission_request_duration_seconds_count{hook="validate/pods"} 1.0' in told


def without(review: dict[str, Any], field: str) -> dict[str, Any]:
    return {key: value for key, value in review.items() if key != field}


def problem_of(answer: Answer) -> tuple[int, str, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json
    return answer.status, problem["code"], problem["detail"]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{", (400, "malformed_body", "$")),
        (without(review_of(), "request"), (422, "invalid_field", "$.request")),
        (without(review_of(), "kind"), (422, "invalid_field", "$.kind")),
        (review_of() | {"apiVersion": "admission.k8s.io/v1beta1"}, (422, "invalid_field", "$.api")),
        (review_of() | {"kind": "Pod"}, (422, "invalid_field", "$.kind")),
        (review_of(uid=None), (422, "invalid_field", "$.request.uid")),
        (review_of(uid=""), (422, "invalid_field", "$.request.uid")),
        (review_of(operation="PATCH"), (422, "invalid_field", "$.request.operation")),
        (review_of(userInfo="ada"), (422, "invalid_field", "$.request.userInfo")),
    ],
)
async def test_what_is_no_review_is_a_problem(body: Any, problem: tuple[int, str, str]) -> None:
    status, code, detail = problem_of(
        await call(app_of(), "POST", "/admission/v1/mutate/pods", body)
    )
    assert (status, code) == problem[:2]
    assert detail.startswith(problem[2])


@pytest.mark.parametrize("said", ["soon", "", "-5s", "999999h"])
async def test_so_is_a_timeout_that_is_none(said: str) -> None:
    path = f"/admission/v1/mutate/pods?timeout={said}"
    status, code, detail = problem_of(await call(app_of(), "POST", path, review_of()))
    assert (status, code) == (422, "invalid_field")
    assert detail.startswith("query.timeout: must be a duration")


async def test_a_long_review_is_read_in_a_thread_and_a_longer_one_is_refused() -> None:
    filling = {"spec": {}, "metadata": {"annotations": {"long": "x" * 1_500_000}}}
    app = app_of(max_review_body_bytes=4_000_000)
    response = await ask(app, "mutate/pods", object=filling, oldObject=filling)
    assert patch_of(response)[0]["path"] == "/spec/tolerations"
    longer = review_of(object=[filling] * 3)
    answer = await call(app, "POST", "/admission/v1/mutate/pods", longer)
    assert problem_of(answer)[:2] == (413, "body_too_large")


async def test_without_hooks_there_is_nothing_to_call() -> None:
    app = create_app(RestSettings(), SystemClock(), CollectorRegistry(), Options())
    answer = await call(app, "POST", "/admission/v1/mutate/pods", review_of())
    assert answer.status == 404


async def test_a_patch_that_is_empty_is_none() -> None:
    hook = Scripted(Outcome(patch=(PatchOperation(op="remove", path="/spec/x"),)))
    assert patch_of(await ask(app_of(hook))) == [{"op": "remove", "path": "/spec/x"}]
    assert "patchType" not in await ask(app_of(Scripted(ALLOWED)))


def having_waited(app: ASGIApp, seconds: float) -> ASGIApp:
    """As if its requests had waited for their turn."""

    async def waited(scope: Scope, receive: Receive, send: Send) -> None:
        scope[SINCE] = monotonic() - seconds
        await app(scope, receive, send)

    return waited


PATH = "/admission/v1/mutate/pods"
HEADERS = {"host": "localhost", "content-type": "application/json"}


async def test_a_call_that_has_waited_long_is_answered_all_the_same() -> None:
    server = RestServer(app_of(), RestSettings(port=0))
    served = having_waited(cast("ASGIApp", server._server.config.app), 5.0)
    assert (await call(served, "GET", "/version", headers=HEADERS)).status == 503
    answer = await call(served, "POST", f"{PATH}?timeout=10s", review_of(), HEADERS)
    assert patch_of(answer.json["response"])


async def test_a_hook_that_would_have_to_wait_then_is_answered_for() -> None:
    served = having_waited(app_of(Scripted(late)), 5.0)
    answer = await call(served, "POST", "/admission/v1/validate/pods", review_of())
    assert answer.json["response"]["warnings"] == [
        "bailiff validate/pods had no answer in time: allowed unseen"
    ]


@pytest.mark.parametrize(("query", "seconds"), [("?timeout=3s", 3.1), ("", 10.1)])
async def test_who_has_hung_up_by_then_costs_nothing_more(query: str, seconds: float) -> None:
    hook = Scripted(ALLOWED)
    served = having_waited(app_of(hook), seconds)
    answer = await call(served, "POST", f"/admission/v1/validate/pods{query}", review_of())
    assert problem_of(answer) == (503, "overloaded", "the call has timed out by now")
    assert hook.asked == []


class Full(Gate):
    """Has no turn for anybody, and notes for how long they wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def enter(self) -> bool:
        return False

    async def wait(self, _address: str, longest: float) -> None:
        self.waits.append(longest)
        raise WaitedTooLongError(longest)


async def test_nobody_waits_for_a_turn_when_the_api_server_waits_no_longer() -> None:
    gate = Full()
    served = having_waited(app_of(gate=gate), 1.0)
    answer = await call(served, "POST", f"{PATH}?timeout=3s", review_of())
    assert problem_of(answer) == (503, "overloaded", "the call has timed out by now")
    assert [round(one) for one in gate.waits] == [2]


async def test_null_is_absent() -> None:
    nulls: dict[str, Any] = {
        "dryRun": None,
        "userInfo": None,
        "name": None,
        "subResource": None,
        "options": None,
    }
    assert "patch" in await ask(app_of(), "mutate/pods", **nulls)
    padded = {"metadata": {"annotations": {"long": "x" * 300_000}}, "spec": {}}
    assert "patch" in await ask(app_of(), "mutate/pods", object=padded, **nulls)


@pytest.mark.parametrize(
    ("rights", "status"),
    [({("alice", Right("post", path=PATH))}, 200), ({("alice", Right("get", path=PATH))}, 403)],
    ids=["may post", "may not"],
)
async def test_on_the_rest_port_a_caller_needs_the_right_to_post_there(
    rights: set[tuple[str, Right]], status: int
) -> None:
    guard = Guard(AccessSettings(), CLOCK, reviewer=Reviewer(rights=rights))
    app = app_of(clock=CLOCK, guard=guard)
    bearer = {"authorization": "Bearer good"}
    assert (await call(app, "POST", PATH, review_of(), HEADERS | bearer)).status == status
    assert (await call(app, "POST", PATH, review_of(), HEADERS)).status == 401
