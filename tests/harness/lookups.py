"""Clusters to look things up in: a dictionary, a client that fails, and an API server."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aiohttp import web

from bailiff import cluster as k8s
from bailiff.decisions import NotRead, Why
from bailiff.kinds import Pod
from bailiff.lookup import ClusterSource, LookUpError, MissingError
from tests.harness.clocks import ManualClock
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from bailiff.decisions import Wanted
    from bailiff.decisions.seen import Seen
    from bailiff.kinds import Node
    from bailiff.kinds.meta import Value

K = TypeVar("K", bound="Value")

V1 = "/apis/resource.k8s.io/v1"
DEVICES = ("resourceslices", "resourceclaims")
REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    500: "InternalError",
    503: "ServiceUnavailable",
}
RULES = ("devicetaintrules", "devicetaintrules/status")


@dataclass
class DictSource:
    """Objects by kind, or the error that reading them gives; it notes what systems want to see.

    Attributes:
        objects: by kind.
        errors: by kind.
        seen: what was wanted, in order.
        kubelets: what they tell, by node; none: they are not asked.
    """

    objects: dict[type[Value], list[Any]] = field(default_factory=dict)
    errors: dict[type[Value], LookUpError] = field(default_factory=dict)
    seen: list[Wanted] = field(default_factory=list)
    kubelets: dict[str, Seen] = field(default_factory=dict)

    @classmethod
    def of(cls, *objects: Value) -> DictSource:
        found = cls()
        found.add(*objects)
        return found

    def add(self, *objects: Value) -> None:
        for one in objects:
            self.objects.setdefault(type(one), []).append(one)

    async def get(self, kind: type[K], name: str, namespace: str = "") -> K:
        for one in self._of(kind):
            if (one.metadata.namespace, one.metadata.name) == (namespace, name):
                return cast("K", one)
        raise MissingError(f"{kind.__name__} {name} does not exist")

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        self.seen.append(wanted)
        found = self._of(wanted.kind)
        if wanted.kind is Pod and wanted.namespace:
            return tuple(pod for pod in found if pod.metadata.namespace == wanted.namespace)
        if wanted.kind is Pod:
            ((path, node),) = wanted.fields
            assert path == "spec.nodeName"
            found = [pod for pod in found if pod.spec.node_name == node]
        return tuple(found)

    @property
    def asks_kubelets(self) -> bool:
        return bool(self.kubelets)

    async def ask_kubelet(self, node: Node) -> Seen:
        return self.kubelets.get(node.metadata.name, NotRead(Why.NOT_ASKED, "nobody is asked"))

    def _of(self, kind: type[Value]) -> list[Any]:
        if kind in self.errors:
            raise self.errors[kind]
        return self.objects.get(kind, [])


class FailingCluster:
    """A client for a ClusterSource, of a cluster that serves devices; some requests of it fail.

    Args:
        objects: that there are.
        fails: the failure of a request, by verb and plural, as `get pods`.
    """

    def __init__(self, objects: tuple[Any, ...], fails: Mapping[str, k8s.ClusterError]) -> None:
        self._objects = objects
        self._fails = fails

    async def get(self, resource: k8s.Resource[Any], name: str, namespace: str = "") -> Any:
        self._check("get", resource)
        for one in self._objects:
            if (type(one), one.metadata.name) == (resource.kind, name):
                return one
        raise k8s.NotFoundError("not there", status=404, reason="NotFound")

    async def list_selected(self, resource: k8s.Resource[Any], *_: object) -> k8s.Listing[Any]:
        self._check("list", resource)
        found = (one for one in self._objects if type(one) is resource.kind)
        return k8s.Listing(tuple(found), "1")

    async def send(self, request: k8s.Request) -> bytes:
        served = [{"name": name} for name in (*DEVICES, *RULES)]
        discovered = {"resources": served} if request.path == V1 else {}
        return json.dumps(discovered or {"versions": [{"version": "v1"}]}).encode()

    def _check(self, verb: str, resource: k8s.Resource[Any]) -> None:
        if (error := self._fails.get(f"{verb} {resource.plural}")) is not None:
            raise error


def failing(*objects: Value, **fails: k8s.ClusterError) -> ClusterSource:
    """Reads these objects; what fails is named as in `get_pods=`."""
    by_request = {name.replace("_", " "): error for name, error in fails.items()}
    client: Any = FailingCluster(objects, by_request)
    return ClusterSource(client, ManualClock())


class Server:
    """An API server; it notes what it is asked but for discovery.

    Attributes:
        names: what it serves of resource.k8s.io.
        objects: by the plural.
        status: what it answers to all but discovery, if not 200.
        says: what it says then, which is no Status.
        asked: paths with their field selectors.
    """

    def __init__(self, *names: str, status: int = 200, says: str | None = None) -> None:
        self.names = names
        self.objects: dict[str, list[dict[str, Any]]] = {}
        self.status = status
        self.says = says
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        found = self._discover(request.path)
        if found is not None:
            return web.json_response(found)
        selector = request.query.get("fieldSelector", "")
        self.asked.append(request.path.removeprefix(V1) + (f"?{selector}" if selector else ""))
        if self.says is not None:
            return web.Response(text=self.says, status=self.status)
        if self.status != 200:
            return web.json_response(_refusal(self.status), status=self.status)
        found = self._find(request.path, selector)
        return web.json_response(found or _refusal(404), status=200 if found else 404)

    def _discover(self, path: str) -> dict[str, Any] | None:
        if path == "/apis/resource.k8s.io" and self.names:
            return {"versions": [{"version": "v1"}]}
        if path == V1:
            return {"resources": [{"name": name} for name in self.names]}
        return None

    def _find(self, path: str, selector: str) -> dict[str, Any] | None:
        before, _, last = path.rpartition("/")
        if path.startswith(V1) and not {last, before.rpartition("/")[2]} & set(self.names):
            return None
        if last in self.objects:
            return {"items": self._selected(last, selector)}
        of_kind = self.objects.get(before.rpartition("/")[2], [])
        return next((one for one in of_kind if one["metadata"]["name"] == last), None)

    def _selected(self, plural: str, selector: str) -> list[dict[str, Any]]:
        driver = selector.removeprefix("spec.driver=") if plural == "resourceslices" else ""
        found = self.objects[plural]
        return [one for one in found if not driver or one["spec"]["driver"] == driver]

    @asynccontextmanager
    async def source(self, folder: Path) -> AsyncIterator[ClusterSource]:
        where = serving(self.answer)
        async with where as port, await k8s.connect(kubeconfig(folder, port)) as cluster:
            yield ClusterSource(cluster, ManualClock())


def _refusal(status: int) -> dict[str, str]:
    return {"kind": "Status", "status": "Failure", "reason": REASONS[status]}
