"""The route of kube-scheduler's extender: a question's, whose answer may need the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions import FactsError
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.turns import decode_in_turns
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.rest_api.question_route import QuestionRoute
from bailiff.turns import is_long_json

if TYPE_CHECKING:
    from typing import Any

    from bailiff.rest_api.services import Services


class ExtenderRoute(QuestionRoute):
    """Hands the arguments, decoded, to the operation, and the body to what that gives back.

    What is wrong with the arguments is answered with 400: kube-scheduler sends none that are, so
    whoever does so has taken the path for another.
    """

    async def _answer(self, body: bytes) -> bytes:
        try:
            verb = self.endpoint(await self._decode(body))
            content: bytes = await verb(body)
        except (DecodeError, FactsError) as error:
            if isinstance(error, DecodeError) and error.malformed:
                raise
            raise Refusal(ProblemCode.WRONG_SHAPE, error.reason, path=error.path) from error
        return content

    async def _decode(self, body: bytes) -> Any:  # noqa: ANN401 - of the operation's type
        kind = self.wire.kind
        if not is_long_json(len(body)):
            return decode(body, kind)
        return await self.services.threads.run(decode_in_turns, body, kind, read=len(body))


def extender_route(given: Services) -> type[ExtenderRoute]:
    """The `route_class` of a router whose verbs are answered by these services."""
    return type("Route", (ExtenderRoute,), {"services": given})
