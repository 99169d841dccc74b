"""The client: typed requests to one cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

from bailiff.cluster import request as requests
from bailiff.cluster.lists import Lists
from bailiff.cluster.request import Body, Request
from bailiff.cluster.resource import PODS, PatchType, Resource
from bailiff.cluster.status import refusal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bailiff.cluster.login import Login
    from bailiff.cluster.settings import ClusterSettings
    from bailiff.cluster.wire import Inflow, Wire

T = TypeVar("T")


class Cluster(Lists):
    """A Kubernetes API server. Get one with `connect`; close it, or use it with `async with`.

    Every method raises ClusterError; which one, says bailiff.cluster.errors. One instance
    belongs to one event loop, any number of its tasks may use it at a time.
    """

    def __init__(
        self,
        transport: Wire,
        settings: ClusterSettings,
        leases: Wire,
        may_write: Callable[[], bool] | None = None,
    ) -> None:
        self._transport = transport
        self._leases = leases
        self._may_write = may_write
        super().__init__(settings)

    def fenced(self, may_write: Callable[[], bool]) -> Cluster:
        """The same cluster over the same connections, for a sender that may not always write.

        `may_write` is asked right before each request that is not a GET is sent; where it says
        no, FencedError is raised. Close the original, not this one.
        """
        return Cluster(self._transport, self.settings, self._leases, may_write)

    def for_leases(self) -> Cluster:
        """The same cluster over connections of their own, where nothing waits for its turn.

        However many requests are under way, and however long the API server has asked for none,
        a Lease is renewed in time. Close the original, not this one.
        """
        return Cluster(self._leases, self.settings, self._leases, self._may_write)

    def beside(self, settings: ClusterSettings) -> Wire:
        """See Transport.beside."""
        return self._transport.beside(settings)

    async def login(self) -> Login:
        """The present login, for other servers of the cluster that know who has it.

        Raises:
            UnreachableError: closed.
        """
        return await self._transport.login()

    def backoff(self) -> float:
        """Seconds for which nothing is sent because the API server refused some requests; 0: none.

        At most 60. See bailiff.cluster.pace.
        """
        return self._transport.backoff()

    async def get(self, resource: Resource[T], name: str, namespace: str = "") -> T:
        """One object."""
        return await self._fetch(Request("GET", resource.path(namespace, name)), resource.kind)

    async def patch(
        self,
        resource: Resource[T],
        name: str,
        namespace: str,
        body: Body,
        *,
        patch_type: PatchType = PatchType.STRATEGIC,
        subresource: str = "",
        field_manager: str = "",
        dry_run: bool = False,
    ) -> T:
        """Change one object; a `metadata.uid` in the body makes it a precondition.

        `namespace` is "" for a resource that has none. Returns the object as it is then.
        """
        asked = requests.patch(
            resource.path(namespace, name, subresource),
            body,
            patch_type,
            fieldManager=field_manager,
            dryRun=requests.dry_run_value(dry_run),
        )
        return await self._fetch(asked, resource.kind)

    async def apply(
        self,
        resource: Resource[T],
        name: str,
        namespace: str,
        body: Mapping[str, Any],
        *,
        field_manager: str,
        force: bool = False,
        subresource: str = "",
        dry_run: bool = False,
    ) -> T:
        """Server-side apply: what the body says is the manager's, what it said before goes.

        Args:
            resource: its kind.
            name: of the object, which is created where there is none.
            namespace: "" for a resource that has none.
            body: with apiVersion and kind; a `metadata.uid` in it makes it a precondition.
            field_manager: who owns the fields from now on.
            force: take fields from other managers (else ConflictError).
            subresource: as `status`; none is created.
            dry_run: check everything, write nothing.
        """
        asked = requests.patch(
            resource.path(namespace, name, subresource),
            body,
            PatchType.APPLY,
            fieldManager=field_manager,
            force="true" if force else "",
            dryRun=requests.dry_run_value(dry_run),
        )
        return await self._fetch(asked, resource.kind)

    async def create(
        self,
        resource: Resource[T],
        body: Body,
        namespace: str = "",
        *,
        field_manager: str = "",
        dry_run: bool = False,
    ) -> T:
        """Create one object and return it as the server wrote it."""
        asked = requests.create(
            resource.path(namespace),
            body,
            fieldManager=field_manager,
            dryRun=requests.dry_run_value(dry_run),
        )
        return await self._fetch(asked, resource.kind)

    async def replace(self, resource: Resource[T], name: str, namespace: str, body: Body) -> T:
        """Put a whole object in place of another; returns it as it is then.

        A `metadata.resourceVersion` in the body makes it a precondition (else ConflictError).
        """
        asked = requests.replace(resource.path(namespace, name), body)
        return await self._fetch(asked, resource.kind)

    async def delete(
        self,
        resource: Resource[Any],
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete one object, or begin to where it has a grace period or finalizers.

        Args:
            resource: its kind.
            name: its name.
            namespace: its namespace.
            uid: if not "", only an object of this UID (else UidMismatchError).
            resource_version: if not "", only in this version (else ConflictError).
            grace_period_seconds: 0 is at once; None leaves the object's own.
            dry_run: check everything, delete nothing.
        """
        await self.send(
            requests.delete(
                resource.path(namespace, name),
                uid=uid,
                resource_version=resource_version,
                grace_period_seconds=grace_period_seconds,
                dry_run=dry_run,
            )
        )

    async def evict(
        self,
        pod: str,
        namespace: str,
        uid: str = "",
        version: str = "",
        *,
        grace_period_seconds: int | None = None,
        dry_run: bool = False,
    ) -> None:
        """Delete a pod of this UID and version through the Eviction API: its budget is asked.

        The budget is charged before the version is looked at, so do not send an outdated one.

        Raises:
            DisruptionBudgetError: the PodDisruptionBudget does not allow it now.
        """
        asked = requests.evict(
            PODS.path(namespace, pod, "eviction"),
            pod,
            namespace,
            uid,
            version,
            grace_period_seconds=grace_period_seconds,
            dry_run=dry_run,
        )
        refusal = refusal_of(asked.what, await self.send(asked))
        if refusal is not None:
            raise refusal

    async def send(self, request: Request, within: float | None = None) -> bytes:
        """Any request; the body of its 2xx answer, undecoded. `within` as in Transport.send."""
        if self._may_write is not None and request.method != "GET":
            request = replace(request, allowed=self._may_write)
        return await self._transport.send(request, within)

    async def open(self, request: Request) -> Inflow:
        """Any request whose answer has no end, as a watch."""
        return await self._transport.open(request)

    async def close(self) -> None:
        """Close all connections."""
        try:
            await self._transport.close()
        finally:
            await self._leases.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
