"""The verbs over HTTP: read the request, ask the registry, write the answer.

Every public method is an endpoint once it has been given its resource (and subresource).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from bailiff_demo import errors
from bailiff_demo.apply import APPLY
from bailiff_demo.errors import ApiError, Cause
from bailiff_demo.http import reading
from bailiff_demo.http.answers import Answers, json_response
from bailiff_demo.http.kubelets import ask_kubelet
from bailiff_demo.http.pages import Page, Pages
from bailiff_demo.http.reading import parse_query
from bailiff_demo.http.watching import WatchStream
from bailiff_demo.objects import part
from bailiff_demo.patches import PATCH_TYPES, apply_patch
from bailiff_demo.registry import DeleteOptions, Target, acts, evict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from starlette.requests import Request
    from starlette.responses import Response

    from bailiff_demo.objects import JsonObject
    from bailiff_demo.registry import Registry
    from bailiff_demo.resources import Resource
    from bailiff_demo.settings import DemoSettings
    from bailiff_demo.store import Record

    _Trying: TypeAlias = AbstractContextManager[None]
    Endpoint: TypeAlias = Callable[[Resource, str, Request], Awaitable[Response]]

# Kinds whose deletion answers with the object; the others answer with a Status.
_RETURNS_DELETED = frozenset({"Pod", "Namespace", "ServiceAccount"})


class Verbs:
    """Answers requests for objects. All of them raise ApiError where the server refuses."""

    def __init__(self, registry: Registry, settings: DemoSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._pages = Pages()

    async def list_or_watch(self, resource: Resource, request: Request) -> Response:
        """GET a collection."""
        if reading.flag(request, "watch"):
            return self._watch(resource, request)
        query = parse_query(request, resource, watch=False)
        answers = Answers(request, resource, self._registry.clock)
        await self._reach(query.version)
        store, selection = self._registry.store, query.selection
        bucket = store.bucket(resource)
        asked = resource.root, resource.plural, selection
        if query.token:
            rest = self._pages.rest(query.token, asked, bucket)
            return answers.page(self._pages.cut(rest, query.limit))
        records = bucket.records(selection.namespace)
        found = [record for record in records if selection.matches(record.object)]
        # Version 0 asks for a cached state, which upstream does not cut into pages.
        limit = 0 if query.version == 0 else query.limit
        return answers.page(self._pages.cut(Page(asked, store.version, found), limit))

    async def get_or_watch(self, resource: Resource, request: Request) -> Response:
        """GET an object."""
        if reading.flag(request, "watch"):
            return self._watch(resource, request)
        return await self.get(resource, "", request)

    async def get(self, resource: Resource, subresource: str, request: Request) -> Response:
        """GET an object, or a part of it that shows the whole."""
        answers = Answers(request, resource, self._registry.clock)
        await self._reach(reading.number(request, "resourceVersion"))
        target = _target(resource, request, subresource)
        return answers.record(self._registry.find(target))

    def _watch(self, resource: Resource, request: Request) -> Response:
        query = parse_query(request, resource, watch=True)
        answers = Answers(request, resource, self._registry.clock)
        stream = WatchStream(self._registry.store, self._settings, resource, query, answers)
        return stream.response()

    async def _reach(self, version: int | None) -> None:
        """Wait for a version that is still to come."""
        store = self._registry.store
        try:
            async with asyncio.timeout(self._settings.future_version_seconds):
                await store.reach(version or 0)
        except TimeoutError as error:
            message = f"Timeout: Too large resource version: {version}, current: {store.version}"
            raise ApiError(504, "Timeout", message, retry_after=1) from error

    async def create(self, resource: Resource, request: Request) -> Response:
        """POST to a collection."""
        answers = Answers(request, resource, self._registry.clock)
        body, manager = await self._object(request), reading.manager_of(request)
        namespace = request.path_params.get("namespace", "")
        with self._trying(request):
            record = self._registry.create(resource, namespace, body, manager=manager)
        return answers.record(record, 201)

    def _trying(self, request: Request, options: JsonObject | None = None) -> _Trying:
        """Nothing within is kept where `dryRun` says so, in the query or in the options."""
        dry_run = reading.is_dry_run(request) or bool((options or {}).get("dryRun"))
        return self._registry.store.trying(dry_run=dry_run)

    async def _object(self, request: Request) -> JsonObject:
        return await reading.read_object(request, self._settings.max_body_bytes)

    async def update(self, resource: Resource, subresource: str, request: Request) -> Response:
        """PUT an object."""
        answers = Answers(request, resource, self._registry.clock)
        target = _target(resource, request, subresource)
        body = await self._object(request)
        manager = reading.manager_of(request)
        with self._trying(request):
            record = self._registry.update(target, body, manager=manager)
        return answers.record(record)

    async def patch(self, resource: Resource, subresource: str, request: Request) -> Response:
        """PATCH an object, or apply it."""
        answers = Answers(request, resource, self._registry.clock)
        target = _target(resource, request, subresource)
        language = reading.media_type(request, (*PATCH_TYPES, APPLY))
        manager = reading.manager_of(request)
        body = await reading.read_body(request, self._settings.max_body_bytes)
        if language == APPLY:
            # Only here the manager must be named.
            manager = request.query_params.get("fieldManager", "")
            config = reading.parse_config(body)
            present = self._registry.store.bucket(resource).get(target.key)
            with self._trying(request):
                record = self._registry.apply(target, config, manager=manager)
            return answers.record(record, 201 if present is None else 200)
        if "force" in request.query_params:
            cause = Cause.forbidden("force", "may not be specified for non-apply patch")
            raise errors.invalid_option("PatchOptions", cause)
        patch = reading.parse_json(body)
        with self._trying(request):
            record = self._registry.patch(target, language, patch, manager=manager)
        return answers.record(record)

    async def delete(self, resource: Resource, request: Request) -> Response:
        """DELETE an object."""
        answers = Answers(request, resource, self._registry.clock)
        options = await self._delete_options(request)
        target = _target(resource, request)
        with self._trying(request, options):
            record, gone = self._registry.delete(target, DeleteOptions.parse(options))
        if gone and resource.kind not in _RETURNS_DELETED:
            return json_response(_deleted(target, record))
        return answers.record(record)

    async def _delete_options(self, request: Request) -> JsonObject:
        empty = request.headers.get("content-length", "0") == "0"
        chunked = "transfer-encoding" in request.headers
        body = {} if empty and not chunked else await self._object(request)
        if (grace := reading.number(request, "gracePeriodSeconds")) is not None:
            body.setdefault("gracePeriodSeconds", grace)
        return body

    def subresource(self, name: str, verb: str) -> Endpoint:
        """The endpoint for a verb of a subresource."""
        if name == "scale":
            return self.scale
        if name in ("binding", "eviction"):
            return self.act
        if name == "proxy":
            return self.proxy
        known: dict[str, Endpoint] = {"get": self.get, "update": self.update, "patch": self.patch}
        return known[verb]

    async def proxy(self, _resource: Resource, _subresource: str, request: Request) -> Response:
        """GET something of a node's kubelet."""
        return await ask_kubelet(self._registry, request)

    async def act(self, resource: Resource, subresource: str, request: Request) -> Response:
        """POST a binding or an eviction of a pod."""
        perform = acts.bind if subresource == "binding" else evict
        target, body = _target(resource, request, subresource), await self._object(request)
        with self._trying(request, part(body, "deleteOptions")):
            perform(self._registry, target, body)
        return json_response(errors.success() | {"code": 201}, 201)

    async def scale(self, resource: Resource, subresource: str, request: Request) -> Response:
        """GET, PUT or PATCH the number of replicas."""
        target = _target(resource, request, subresource)
        record = self._registry.find(target)
        if request.method in ("PUT", "PATCH"):
            scale = await self._wanted_scale(request, acts.scale_of(record))
            with self._trying(request):
                record = acts.set_scale(self._registry, target, scale, reading.manager_of(request))
        return json_response(acts.scale_of(record))

    async def _wanted_scale(self, request: Request, present: JsonObject) -> JsonObject:
        if request.method == "PUT":
            return await self._object(request)
        language = reading.media_type(request, PATCH_TYPES)
        body = await reading.read_body(request, self._settings.max_body_bytes)
        return apply_patch(language, present, reading.parse_json(body))


def _target(resource: Resource, request: Request, subresource: str = "") -> Target:
    path = request.path_params
    return Target(resource, path.get("namespace", ""), path["name"], subresource)


def _deleted(target: Target, record: Record) -> JsonObject:
    resource = target.resource
    named = {"name": target.name, "group": resource.group, "kind": resource.plural}
    return errors.success(**{k: v for k, v in named.items() if v}, uid=record.uid)
