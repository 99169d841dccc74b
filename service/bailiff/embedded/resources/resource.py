"""What a row of the table of resources says."""

from __future__ import annotations

from dataclasses import dataclass, field

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One kind as it is served.

    Attributes:
        group: API group; empty for the core group.
        version: of the group.
        plural: as in paths.
        kind: of its objects.
        namespaced: whether its objects live in namespaces.
        status: whether `/status` is a subresource, so that the main one ignores the status.
        status_keeps_metadata: whether a write of the status leaves labels, annotations, finalizers
            and owners as they are (metav1.ResetObjectMetaForStatus).
        generation: whether metadata.generation counts changes of the spec.
        subresources: others, name to (kind, verbs, group and version where they are not its own).
        storage: id of the resource whose objects these are; its own id but for second views.
        short_names: as `po`.
        categories: as `all`.
        fields: paths that field selectors may name, beyond metadata.name and .namespace.
    """

    group: str = ""
    version: str = "v1"
    plural: str
    kind: str
    namespaced: bool = True
    status: bool = False
    status_keeps_metadata: bool = False
    generation: bool = False
    subresources: dict[str, Subresource] = field(default_factory=dict)
    storage: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """`daemonsets.apps`, as messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def api_version(self) -> str:
        """`apps/v1`, as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def bucket(self) -> str:
        """Where its objects are stored."""
        return self.storage or self.id

    @property
    def singular(self) -> str:
        """As `kubectl get pod` takes it."""
        return self.kind.lower()

    def __hash__(self) -> int:
        return hash(self.id)


@dataclass(frozen=True, slots=True)
class Subresource:
    """A part of an object, or an act on it, with a path of its own."""

    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


STATUS = Subresource("", ("get", "patch", "update"))


def subresources_of(resource: Resource) -> dict[str, Subresource]:
    """All of them, `status` too."""
    own = {"status": STATUS} if resource.status else {}
    return {**own, **resource.subresources}
