"""The route of the hooks: from an AdmissionReview to one that is answered, always with 200.

The API server takes any other status for a webhook that is down. So what is no AdmissionReview gets
a problem, and whatever becomes of the hook that is asked, the review is answered.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qsl

import msgspec
from fastapi.routing import APIRoute

from bailiff.kinds.admission_review import (
    AdmissionResponse,
    AdmissionReview,
    RefusalStatus,
    ReviewedAdmission,
    StatusDetails,
)
from bailiff.kinds.decoding import decode_served
from bailiff.kinds.durations import parse_go_duration
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.serving import OverloadedError
from bailiff.serving.admission import SINCE, TURN
from bailiff.turns import WaitedTooLongError, is_long_json

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from bailiff.rest_api.services import Services
    from bailiff.webhooks import Admission, Hook, Outcome
    from bailiff.webhooks import Refusal as Denial

_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(AdmissionReview).decode
# Seconds that kube-apiserver waits where nobody says otherwise (timeoutSeconds of a webhook).
_USUAL = 10.0
_NOBODY_WAITS = "the call has timed out by now"
# How kube-apiserver tells its own timeout, of 30 s at most (Request.URL in client-go rest).
TIMEOUT_PATTERN = r"^([0-9]{1,5}(\.[0-9]{1,9})?(h|m|s|ms|us|ns)){1,4}$"
_TIMEOUT = re.compile(TIMEOUT_PATTERN)
_TIMEOUT_RULE = "must be a duration such as 10s, 1m0s or 500ms"


class AdmissionRoute(APIRoute):
    """Hands the review to the operation's hook. Behind FastAPI's routing, and past pydantic."""

    services: ClassVar[Services]
    admission: ClassVar[Admission]

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request whose path is this route's."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        services = self.services
        since, timeout = scope.get(SINCE, services.clock.monotonic()), _timeout(scope)
        longest = services.max_review_bytes
        body = await services.bodies.take(longest, longest, dict(scope["headers"]), receive)
        await self._take_turn(scope, since + timeout - services.clock.monotonic())
        if services.clock.monotonic() - since > timeout:
            raise OverloadedError(_NOBODY_WAITS)
        content = _ENCODE(await self._answer(body, since, timeout))
        length = b"%d" % len(content)
        start = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": start})
        await send({"type": "http.response.body", "body": content})

    async def _answer(self, body: bytes, since: float, seconds: float) -> ReviewedAdmission:
        review = await self._decode(body)
        hook: Hook = self.endpoint(review)
        outcome = await self.admission.review(hook, review.request, hook.deadline(since, seconds))
        return answer_to(review, outcome)

    async def _decode(self, body: bytes) -> AdmissionReview:
        """The review. Objects in it are only skipped: 4 ns a byte at worst, so here and now."""
        try:
            return _DECODE(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # Wrong, or written as kube-apiserver does not: the slow way tells.
            if is_long_json(len(body)):
                threads = self.services.threads
                return await threads.run(decode_served, body, AdmissionReview, read=len(body))
            return decode_served(body, AdmissionReview)

    async def _take_turn(self, scope: Scope, left: float) -> None:
        """For as long as the API server waits: an answer that is late is better than none."""
        gate = self.services.gate
        if scope.get(TURN) == gate.number or gate.enter():
            return
        client = scope.get("client") or ("",)
        try:
            await gate.wait(client[0], left)
        except WaitedTooLongError as error:
            raise OverloadedError(_NOBODY_WAITS) from error


def admission_route(services: Services, admission: Admission) -> type[AdmissionRoute]:
    """The `route_class` of a router that has these hooks asked."""
    return type("Route", (AdmissionRoute,), {"services": services, "admission": admission})


def answer_to(review: AdmissionReview, outcome: Outcome) -> ReviewedAdmission:
    """The review as it goes back to the API server."""
    response = AdmissionResponse(
        uid=review.request.uid,
        allowed=outcome.allowed,
        status=None if outcome.refusal is None else _status(outcome.refusal),
        patch=_ENCODE(outcome.patch) if outcome.patch else b"",
        patch_type="JSONPatch" if outcome.patch else None,
        warnings=outcome.warnings,
    )
    return ReviewedAdmission(api_version=review.api_version, kind=review.kind, response=response)


def _status(refusal: Denial) -> RefusalStatus:
    seconds = refusal.retry_after_seconds
    return RefusalStatus(
        status="Failure",
        code=refusal.code,
        reason=refusal.reason,
        message=refusal.message,
        details=None if seconds is None else StatusDetails(retry_after_seconds=seconds),
    )


def _timeout(scope: Scope) -> float:
    """Seconds that the API server waits, as it says in the query.

    Raises:
        Refusal: it is no duration.
    """
    text = scope.get("query_string", b"").decode("ascii", "replace")
    given = dict(parse_qsl(text, keep_blank_values=True)).get("timeout")
    if given is None:
        return _USUAL
    if not _TIMEOUT.fullmatch(given):
        raise Refusal(ProblemCode.INVALID_FIELD, _TIMEOUT_RULE, path="query.timeout")
    return parse_go_duration(given) / 1e9
