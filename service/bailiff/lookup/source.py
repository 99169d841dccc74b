"""Objects of a cluster by what is wanted of them; reads, never writes, and keeps nothing."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from bailiff.cluster import (
    CONFIG_MAPS,
    NAMESPACES,
    NODES,
    PODS,
    ClusterError,
    DeviceDiscovery,
    NotFoundError,
    RequestTimeoutError,
    Resource,
    ResponseError,
    Selection,
    ServerError,
    TooManyRequestsError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster import ForbiddenError as RefusedError
from bailiff.cluster.slimming import slimmer_for
from bailiff.decisions import NotRead, Why
from bailiff.kinds import (
    ConfigMap,
    DeviceTaintRule,
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    ResourceClaim,
    ResourceSlice,
)
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import Lease
from bailiff.kinds.meta import as_served
from bailiff.kinds.volume_claim import PersistentVolumeClaim
from bailiff.lookup.errors import (
    FailedError,
    ForbiddenError,
    MissingError,
    NotServedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bailiff.clock import Clock
    from bailiff.cluster import Cluster
    from bailiff.cluster.discovery import DeviceApi
    from bailiff.decisions import Wanted
    from bailiff.decisions.seen import Seen
    from bailiff.kinds.meta import Value
    from bailiff.lookup.kubelets import KubeletAnswers

T = TypeVar("T", bound="Value")

BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", PodDisruptionBudget)
_RESOURCES: dict[type[Value], Resource[Any]] = {
    Pod: PODS,
    Node: NODES,
    Namespace: NAMESPACES,
    ConfigMap: CONFIG_MAPS,
    PodDisruptionBudget: BUDGETS,
    Lease: Resource("coordination.k8s.io", "v1", "leases", Lease),
    DaemonSet: Resource("apps", "v1", "daemonsets", DaemonSet),
    PersistentVolumeClaim: Resource("", "v1", "persistentvolumeclaims", PersistentVolumeClaim),
}
# Those of which a cluster may have thousands, so that only what is decided by is kept of each.
_SLIM = (ResourceClaim, ResourceSlice)
# More objects of one namespace are listed, fewer got one by one.
_FEW = 8
_UNAVAILABLE = (UnreachableError, RequestTimeoutError, ServerError, TooManyRequestsError)


class ClusterSource:
    """Asks the API server every time; in which version it serves devices, once a minute.

    Every method raises LookUpError; for which reason, see bailiff.lookup.errors.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, kubelets: KubeletAnswers | None = None
    ) -> None:
        """Ask nothing yet.

        Args:
            cluster: whose objects are read.
            clock: see DeviceDiscovery.
            kubelets: of the cluster; None: they are not asked.
        """
        self._cluster = cluster
        self._discovery = DeviceDiscovery(cluster, clock)
        self._kubelets = kubelets

    @property
    def asks_kubelets(self) -> bool:
        """Kubelets may be asked, too."""
        return self._kubelets is not None

    async def ask_kubelet(self, node: Node) -> Seen:
        """What its kubelet tells, or why not; see OfKubelet."""
        if self._kubelets is None:
            return NotRead(Why.NOT_ASKED, "kubelets are not asked")
        return await self._kubelets.of(node)

    async def get(self, kind: type[T], name: str, namespace: str = "") -> T:
        """One object; MissingError if there is none of that name."""
        resource = await self._resource(kind)
        what = f"{kind.__name__} {namespace}/{name}" if namespace else f"{kind.__name__} {name}"
        with told(what, f"get {resource.plural}"):
            return cast("T", await self._get(resource, name, namespace))

    async def _get(self, resource: Resource[Any], name: str, namespace: str) -> Value:
        try:
            found: Value = await self._cluster.get(resource, name, namespace)
        except NotFoundError as error:
            if not error.reason:
                # An API server says why; another kind of server has no such path for anything.
                said = f"no Kubernetes API answered: {error.message}"
                raise ResponseError(said) from error
            raise
        return _served(found)

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        """All objects that are wanted, as far as there are any."""
        try:
            resource = await self._resource(wanted.kind)
        except _NoneOfThem:
            return ()
        names = None if wanted.names is None else tuple(dict.fromkeys(wanted.names))
        try:
            if names is None or len(names) > _FEW or wanted.fields or wanted.unlike:
                return await self._list(resource, wanted, names)
            return await self._get_each(resource, wanted, names)
        except MissingError as error:
            # Served a moment ago, as while the API server is upgraded.
            self._discovery.forget()
            plural = resource.plural
            raise UnavailableError(f"the cluster has just ceased to serve {plural}") from error

    async def _list(
        self, resource: Resource[Any], wanted: Wanted, names: tuple[str, ...] | None
    ) -> tuple[Value, ...]:
        selection = Selection(namespace=wanted.namespace, field_selector=_field_selector(wanted))
        each = slimmer_for(wanted.kind) if wanted.kind in _SLIM else None
        with told(f"the {resource.plural}", f"list {resource.plural}"):
            # The first of all would be others than the first of those that are named.
            most = wanted.most if names is None else None
            found = await self._items(resource, selection, each, most)
        found = tuple(map(_served, found))
        if names is None:
            return found
        return tuple([one for one in found if one.metadata.name in names])[: wanted.most]

    async def _items(
        self,
        resource: Resource[Any],
        selection: Selection,
        each: Callable[[Any], Any] | None,
        most: int | None,
    ) -> tuple[Any, ...]:
        if most is None:
            return (await self._cluster.list_selected(resource, selection, each)).items
        return await self._cluster.list_first(resource, selection, most, each)

    async def _get_each(
        self, resource: Resource[Any], wanted: Wanted, names: tuple[str, ...]
    ) -> tuple[Value, ...]:
        found = []
        for name in names:
            with told(f"the {resource.plural}", f"get {resource.plural}"):
                try:
                    one = await self._cluster.get(resource, name, wanted.namespace)
                except NotFoundError:
                    # Who wants them says what that means.
                    continue
                found.append(_served(one))
        return tuple(found)[: wanted.most]

    async def _resource(self, kind: type[Value]) -> Resource[Any]:
        found = _RESOURCES.get(kind)
        if found is not None:
            return found
        with told("what the cluster serves", "get /apis"):
            api = await self._discovery.current()
        if api is None:
            raise NotServedError("the cluster serves no devices (resource.k8s.io)")
        return _of_devices(api, kind)


def _served(found: Value) -> Value:
    if not isinstance(found, Pod):
        return found
    metadata = found.metadata
    annotations = as_served(metadata.annotations)
    if annotations is metadata.annotations:
        return found
    return replace(found, metadata=replace(metadata, annotations=annotations))


class _NoneOfThem(Exception):  # noqa: N818 - no error
    """Devices are served, and no rules, which are an API of their own: then there are none."""


def _of_devices(api: DeviceApi, kind: type[Value]) -> Resource[Any]:
    served: dict[type[Value], Resource[Any] | None] = {
        ResourceSlice: api.slices,
        ResourceClaim: api.claims,
        DeviceTaintRule: api.rules,
    }
    if kind not in served:
        raise TypeError(f"nothing is known of where {kind.__name__} is served")
    found = served[kind]
    if found is None:
        raise _NoneOfThem
    return found


@contextmanager
def told(what: str, permission: str) -> Iterator[None]:
    """Turn the failure of a request into a LookUpError that says what to do."""
    try:
        yield
    except NotFoundError as error:
        raise MissingError(f"{what} does not exist") from error
    except (RefusedError, UnauthorizedError) as error:
        raise ForbiddenError(
            f"Bailiff's account may not read {what}: grant it the permission to {permission}"
        ) from error
    except _UNAVAILABLE as error:
        raise UnavailableError(f"{what} could not be read: {error.message}") from error
    except ClusterError as error:
        raise FailedError(f"{what} could not be read: {error.message}") from error


def _field_selector(wanted: Wanted) -> str:
    like = [f"{path}={_selector_value(value)}" for path, value in wanted.fields]
    unlike = [f"{path}!={_selector_value(value)}" for path, value in wanted.unlike]
    return ",".join((*like, *unlike))


def _selector_value(text: str) -> str:
    # A selector's own syntax ends a value at these (apimachinery pkg/fields).
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
