"""The ASGI application: from a request to its answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import ApiError
from bailiff.embedded.http import discovery
from bailiff.embedded.http.answer import encode, send_body, send_error, send_json
from bailiff.embedded.http.negotiation import choose_form, wants_aggregated_discovery
from bailiff.embedded.http.request import Request
from bailiff.embedded.http.routes import parse_path
from bailiff.embedded.http.verbs import Verbs, verb_of

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.settings import EmbeddedSettings

_log = logging.getLogger(__name__)
_HEALTH = ("healthz", "livez", "readyz")
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Application:
    """Serves one cluster."""

    def __init__(self, registry: Registry, settings: EmbeddedSettings) -> None:
        self._settings = settings
        self._verbs = Verbs(registry, settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI's entry."""
        if scope["type"] != "http":
            return
        try:
            request = Request(scope, receive, self._settings.max_body_bytes)
            await self._answer(request, send)
        except ApiError as error:
            await send_error(send, error)
        except Exception as error:  # noqa: BLE001 - the edge: a fault of ours must be answered too
            _log.exception("%s %s failed", scope["method"], scope["path"])
            await send_error(send, errors.internal(repr(error)))

    async def _answer(self, request: Request, send: Send) -> None:
        segments = request.path.strip("/").split("/")
        if segments[0] in ("api", "apis") and _is_object_path(segments):
            route = parse_path(segments)
            await self._verbs.answer(verb_of(request, route), request, route, send)
            return
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if segments[0] in _HEALTH:
            await send_body(send, 200, b"ok", "text/plain; charset=utf-8")
        elif segments in (["api"], ["apis"]) and wants_aggregated_discovery(
            request.header("accept")
        ):
            body = discovery.aggregated(core=segments == ["api"])
            await send_body(send, 200, encode(body), _AGGREGATED)
        else:
            choose_form(request.header("accept"))
            await send_json(send, _described(segments))


def _is_object_path(segments: list[str]) -> bool:
    return len(segments) > (2 if segments[0] == "api" else 3)


def _described(segments: list[str]) -> JsonObject:
    """What a path of discovery says.

    Raises:
        ApiError: 404.
    """
    found: JsonObject | None = None
    match segments:
        case ["api"]:
            found = discovery.core_versions()
        case ["apis"]:
            found = discovery.group_list()
        case ["apis", group]:
            found = discovery.group(group)
        case ["api", version]:
            found = discovery.resource_list("", version)
        case ["apis", group, version]:
            found = discovery.resource_list(group, version)
        case ["version"]:
            found = dict(discovery.VERSION)
        case ["openapi", "v3"]:
            found = discovery.openapi_index()
        case ["openapi", "v3", *path]:
            found = discovery.openapi("/".join(path))
    if found is None:
        raise errors.no_such_path()
    return found
