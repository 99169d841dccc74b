"""What is refused whatever the kind: stale versions, other objects, namespaces that go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.resources import NAMESPACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry.target import Target
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.storage import Record, Store


def check_uid(target: Target, old: Record, new: JsonObject) -> None:
    """Refuse a write that was made for another object of the name."""
    if (uid := new["metadata"].get("uid") or old.uid) != old.uid:
        refuse(target.resource, new, [Cause.invalid("metadata.uid", uid, "field is immutable")])


def check_version(target: Target, old: Record, new: JsonObject) -> None:
    """Refuse a write that was made against another version."""
    version = new["metadata"].get("resourceVersion") or str(old.version)
    if not version.isdigit():
        causes = [Cause.invalid("metadata.resourceVersion", version, "must be a number")]
        raise errors.invalid(target.resource.group, target.resource.kind, target.name, causes)
    if int(version) not in (0, old.version):
        raise errors.stale(target.resource, target.name)


def refuse(resource: Resource, obj: JsonObject, causes: Sequence[Cause]) -> None:
    """Refuse an object for these causes, if there are any."""
    if causes:
        name = obj["metadata"].get("name") or obj["metadata"].get("generateName", "")
        raise errors.invalid(resource.group, resource.kind, name, causes)


def check_namespace(store: Store, resource: Resource, namespace: str, name: str) -> None:
    """The admission plugin NamespaceLifecycle."""
    if not resource.namespaced:
        return
    found = store.bucket(NAMESPACES).get(("", namespace))
    if found is None:
        raise errors.not_found(NAMESPACES, namespace)
    if found.object["metadata"].get("deletionTimestamp"):
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        text = f"namespace {namespace} is being terminated"
        cause = Cause("NamespaceTerminating", "metadata.namespace", text)
        raise errors.forbidden(resource, name, why, [cause])
