"""The route of kube-scheduler's extender: a question's, whose answer may need the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw
from msgspec.structs import fields

from bailiff.decisions import FactsError
from bailiff.kinds import DecodeError, decode
from bailiff.kinds.turns import decode_in_turns
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.rest_api.question_route import QuestionRoute
from bailiff.turns import is_long_json

if TYPE_CHECKING:
    from typing import Any

    from bailiff.rest_api.services import Services

# That an error tells.
_MOST_KEYS = 5


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
            reason = error.reason + _misspelt(body, self.wire.kind)
            raise Refusal(ProblemCode.WRONG_SHAPE, reason, path=error.path) from error
        return content

    async def _decode(self, body: bytes) -> Any:  # noqa: ANN401 - of the operation's type
        kind = self.wire.kind
        if not is_long_json(len(body)):
            return decode(body, kind)
        return await self.services.threads.run(decode_in_turns, body, kind, read=len(body))


def _misspelt(body: bytes, kind: Any) -> str:  # noqa: ANN401 - of the operation's type
    """What to say of keys that differ from ours by capitals alone, which Go would take."""
    if is_long_json(len(body)):
        return ""
    try:
        told = msgspec.json.decode(body, type=dict[str, Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    ours = {field.encode_name.lower(): field.encode_name for field in fields(kind)}
    pairs = [(key, ours[key.lower()]) for key in told if ours.get(key.lower(), key) != key]
    return "".join(f"; {key!r} is to be written {right}" for key, right in pairs[:_MOST_KEYS])


def extender_route(given: Services) -> type[ExtenderRoute]:
    """The `route_class` of a router whose verbs are answered by these services."""
    return type("Route", (ExtenderRoute,), {"services": given})
