"""Subresources other than status: binding, eviction, finalize, scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.http.answer import Answer, send_json
from bailiff.embedded.patches import PATCH_TYPES, apply_patch
from bailiff.embedded.registry import Registry, Target, acts, evict

if TYPE_CHECKING:
    from bailiff.embedded.http.request import Request
    from bailiff.embedded.http.routes import Route
    from bailiff.embedded.objects import JsonObject


class Subresources:
    """Answers requests for them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @staticmethod
    def serves(route: Route) -> bool:
        """Whether the path names one of them."""
        return route.subresource not in ("", "status")

    async def answer(self, verb: str, request: Request, route: Route, answer: Answer) -> None:
        """Answer one.

        Raises:
            ApiError: the server refuses.
        """
        target = Target(route.resource, route.namespace or "", route.name, route.subresource)
        match route.subresource:
            case "binding":
                body, dry_run = await request.object(), request.dry_run()
                acts.bind(self._registry, target, body, dry_run=dry_run)
                await send_json(answer.send, errors.success() | {"code": 201}, 201)
            case "eviction":
                body, dry_run = await request.object(), request.dry_run()
                evict(self._registry, target, body, dry_run=dry_run)
                await send_json(answer.send, errors.success() | {"code": 201}, 201)
            case "finalize":
                record = acts.finalize(self._registry, target, await request.object())
                await answer.record(record)
            case _:
                await self._scale(verb, request, target, answer)

    async def _scale(self, verb: str, request: Request, target: Target, answer: Answer) -> None:
        record = self._registry.find(target)
        if verb != "get":
            scale = await self._wanted_scale(verb, request, acts.scale_of(record))
            dry_run = request.dry_run()
            record = acts.set_scale(
                self._registry,
                target,
                scale,
                dry_run=dry_run,
                manager=request.manager("UpdateOptions"),
            )
        await send_json(answer.send, acts.scale_of(record))

    @staticmethod
    async def _wanted_scale(verb: str, request: Request, present: JsonObject) -> JsonObject:
        if verb == "update":
            return await request.object()
        media_type = request.media_type(PATCH_TYPES)
        return apply_patch(media_type, present, await request.value(PATCH_TYPES))
