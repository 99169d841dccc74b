"""The verbs over HTTP: read the request, ask the registry, write the answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.http.answer import Answer, send_json
from bailiff.embedded.http.options import Query, parse_query
from bailiff.embedded.http.subresources import Subresources
from bailiff.embedded.http.watching import ObjectFrames, WatchStream
from bailiff.embedded.http.yaml_body import parse_yaml
from bailiff.embedded.patches import APPLY, PATCH_TYPES
from bailiff.embedded.registry import DeleteOptions, ListOptions, Page, Target
from bailiff.embedded.resources import subresources_of
from bailiff.embedded.tables import TableFrames

if TYPE_CHECKING:
    from starlette.types import Send

    from bailiff.embedded.http.request import Request
    from bailiff.embedded.http.routes import Route
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.settings import EmbeddedSettings
    from bailiff.embedded.storage import Record

_BY_METHOD = {
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "POST": "create",
    "DELETE": "delete",
}
_OF_COLLECTIONS = {"get": "list", "create": "create", "delete": "deletecollection"}
# Kinds whose deletion answers with the object; the others answer with a Status.
_RETURNS_DELETED = frozenset({"Pod", "Namespace", "ServiceAccount"})


def verb_of(request: Request, route: Route) -> str:
    """As Kubernetes names it: `list`, `watch`, `deletecollection`, ...

    Raises:
        ApiError: 405, not a verb of this path.
    """
    verb = _BY_METHOD.get(request.method, "")
    if verb == "get" and request.flag("watch") and not route.subresource:
        return "watch"
    if not route.name:
        verb = _OF_COLLECTIONS.get(verb, "")
    elif verb == "create" and not route.subresource:
        verb = ""
    if route.subresource and verb not in subresources_of(route.resource)[route.subresource].verbs:
        verb = ""
    if not verb:
        raise errors.method_not_allowed()
    return verb


class Verbs:
    """Answers requests for objects."""

    def __init__(self, registry: Registry, settings: EmbeddedSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._subresources = Subresources(registry)

    async def answer(self, verb: str, request: Request, route: Route, send: Send) -> None:
        """Answer one.

        Raises:
            ApiError: the server refuses; nothing has been sent then.
        """
        answer = Answer(request, route.resource, self._registry.clock, send)
        if self._subresources.serves(route):
            await self._subresources.answer(verb, request, route, answer)
            return
        match verb:
            case "get":
                await self._get(request, route, answer)
            case "list":
                await self._list(request, route, answer)
            case "watch":
                await self._watch(request, route, answer)
            case "create":
                await self._create(request, route, answer)
            case "deletecollection":
                await self._delete_collection(request, route, answer)
            case _:
                await self._change(verb, request, route, answer)

    async def _get(self, request: Request, route: Route, answer: Answer) -> None:
        await self._reach(request.number("resourceVersion"))
        await answer.record(self._registry.find(target_of(route)))

    async def _list(self, request: Request, route: Route, answer: Answer) -> None:
        query = parse_query(request, route, watch=False)
        await self._reach(query.version)
        await answer.page(self._registry.list(route.resource, self._list_options(query)))

    def _list_options(self, query: Query) -> ListOptions:
        limit = query.limit
        if self._settings.max_page and limit:
            limit = min(limit, self._settings.max_page)
        # Version 0 asks for a cached state, which upstream does not cut into pages.
        if query.version == 0 and not query.token:
            limit = 0
        version = query.version if query.exact else None
        return ListOptions(
            selection=query.selection, limit=limit, token=query.token, version=version
        )

    async def _reach(self, version: int | None) -> None:
        """Wait for a version that is still to come.

        Raises:
            ApiError: 504, it did not come.
        """
        if version is None:
            return
        store = self._registry.store
        try:
            async with asyncio.timeout(self._settings.future_version_seconds):
                await store.reach(version)
        except TimeoutError as error:
            message = f"Too large resource version: {version}, current: {store.version}"
            cause = Cause("ResourceVersionTooLarge", "", "Too large resource version")
            raise errors.timeout(message, 1, [cause]) from error

    async def _watch(self, request: Request, route: Route, answer: Answer) -> None:
        query = parse_query(request, route, watch=True)
        frames: ObjectFrames | TableFrames = ObjectFrames(route.resource)
        if answer.form == "table":
            frames = TableFrames(route.resource, self._registry.clock, answer.include_object)
        elif answer.form == "metadata":
            raise errors.not_acceptable(("application/json",))
        stream = WatchStream(self._registry.store, self._settings, route.resource, query, frames)
        await stream.run(request.receive, answer.send)

    async def _create(self, request: Request, route: Route, answer: Answer) -> None:
        body = await request.object()
        if route.resource.namespaced and route.namespace is None:
            raise errors.method_not_allowed()
        record = self._registry.create(
            route.resource,
            route.namespace or "",
            body,
            dry_run=request.dry_run(),
            manager=request.manager("CreateOptions"),
        )
        await answer.record(record, 201)

    async def _change(self, verb: str, request: Request, route: Route, answer: Answer) -> None:
        dry_run, target = request.dry_run(), target_of(route)
        if verb == "delete":
            await self._delete(request, target, answer)
        elif verb == "update":
            body = await request.object()
            before = self._registry.store.bucket(route.resource).get(target.key)
            manager = request.manager("UpdateOptions")
            record = self._registry.update(target, body, dry_run=dry_run, manager=manager)
            await answer.record(record, 201 if before is None else 200)
        else:
            await self._patch(request, target, answer, dry_run=dry_run)

    async def _patch(
        self, request: Request, target: Target, answer: Answer, *, dry_run: bool
    ) -> None:
        media_type = request.media_type((*PATCH_TYPES, APPLY))
        manager = request.manager("PatchOptions")
        if media_type == APPLY:
            await self._apply(request, target, answer, dry_run=dry_run)
            return
        if "force" in request.query:
            cause = Cause.forbidden("force", "may not be specified for non-apply patch")
            raise errors.invalid("meta.k8s.io", "PatchOptions", "", [cause])
        patch = await request.value(PATCH_TYPES)
        record = self._registry.patch(target, media_type, patch, dry_run=dry_run, manager=manager)
        await answer.record(record)

    async def _apply(
        self, request: Request, target: Target, answer: Answer, *, dry_run: bool
    ) -> None:
        config = parse_yaml(await request.body())
        before = self._registry.store.bucket(target.resource).get(target.key)
        record = self._registry.apply(
            target,
            config,
            manager=request.first("fieldManager"),
            force=request.flag("force"),
            dry_run=dry_run,
        )
        await answer.record(record, 201 if before is None else 200)

    async def _delete(self, request: Request, target: Target, answer: Answer) -> None:
        options = await _delete_options(request)
        record, gone = self._registry.delete(target, options)
        foreground = options.propagation == "Foreground" and not gone
        status = 202 if foreground else 200
        if gone and target.resource.kind not in _RETURNS_DELETED:
            await send_json(answer.send, _deleted(target, record), status)
        else:
            await answer.record(record, status)

    async def _delete_collection(self, request: Request, route: Route, answer: Answer) -> None:
        query = parse_query(request, route, watch=False)
        options = await _delete_options(request)
        page = self._registry.list(route.resource, self._list_options(query))
        for record in page.records:
            self._registry.delete(Target(route.resource, *record.key), options)
        await answer.page(Page(page.version, page.records))


def target_of(route: Route) -> Target:
    """The object that a path names."""
    return Target(route.resource, route.namespace or "", route.name, route.subresource)


async def _delete_options(request: Request) -> DeleteOptions:
    body = await request.value()
    if body is not None and not isinstance(body, dict):
        raise errors.bad_request("the request body must be a JSON object")
    merged = {k: v for k, v in (body or {}).items() if v is not None}
    if (grace := request.number("gracePeriodSeconds")) is not None:
        merged.setdefault("gracePeriodSeconds", grace)
    if propagation := request.first("propagationPolicy"):
        merged.setdefault("propagationPolicy", propagation)
    if request.dry_run():
        merged["dryRun"] = ["All"]
    return DeleteOptions.parse(merged)


def _deleted(target: Target, record: Record) -> JsonObject:
    resource = target.resource
    details = {
        "name": target.name,
        "group": resource.group,
        "kind": resource.plural,
        "uid": record.uid,
    }
    return errors.success(**{k: v for k, v in details.items() if v})
