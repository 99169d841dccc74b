"""metadata: what the server owns of it, and what is refused (api/validation/objectmeta.go)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.errors import Cause
from bailiff_demo.resources import NAMESPACES
from bailiff_demo.rules.fields import check_key, check_labels
from bailiff_demo.stats import check_told

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.resources import Resource
    from bailiff_demo.rules import Strategy
    from bailiff_demo.store import Key, Record, Store

# 256 KiB over all annotations of an object.
MAX_ANNOTATION_BYTES = 256 * 1024
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_OMITTED = ("labels", "annotations", "finalizers", "ownerReferences", "namespace")
_OWNED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)


@dataclass(frozen=True, slots=True)
class Target:
    """One object, or one part of it; the namespace is empty for what lives in none."""

    resource: Resource
    namespace: str
    name: str
    subresource: str = ""

    @property
    def key(self) -> Key:
        """Its place in the store."""
        return self.namespace, self.name


def prepare_new(obj: JsonObject, namespace: str) -> None:
    """Drop what a client may not set, and give a name where one is to be generated.

    Raises:
        ApiError: 400, the namespace is another one than the path's.
    """
    meta = obj["metadata"]
    if meta.setdefault("namespace", namespace) != namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if not namespace:
        del meta["namespace"]
    if meta.get("resourceVersion"):
        raise errors.bad_request("resourceVersion should not be set on objects to be created")
    for name in (*_OWNED, "resourceVersion", "managedFields", "selfLink"):
        meta.pop(name, None)
    if not meta.get("name") and meta.get("generateName"):
        # The same room as upstream leaves for the suffix.
        meta["name"] = meta["generateName"][:58] + "".join(random.choices(_SUFFIX, k=5))  # noqa: S311 - names, not secrets


def drop_empty(obj: JsonObject) -> None:
    """Leave out empty lists and maps that Go's encoder leaves out."""
    for part, names in (("metadata", _OMITTED), ("spec", ("taints", "tolerations"))):
        fields = obj.get(part)
        for name in names:
            if isinstance(fields, dict) and name in fields and not fields[name]:
                del fields[name]


def keep_owned(new: JsonObject, old: JsonObject) -> None:
    """Take the server's own fields from the stored object."""
    meta, before = new["metadata"], old["metadata"]
    for name in (*_OWNED, "name", "namespace"):
        meta.pop(name, None)
        if name in before:
            meta[name] = before[name]
    meta["resourceVersion"] = before["resourceVersion"]
    meta.pop("selfLink", None)


def check_identity(obj: JsonObject, target: Target) -> None:
    """Refuse an object that is another one than the path names.

    Raises:
        ApiError: 400.
    """
    meta = obj["metadata"]
    for field, wanted in (("name", target.name), ("namespace", target.namespace)):
        if wanted and meta.setdefault(field, wanted) != wanted:
            raise errors.bad_request(
                f"the {field} of the object ({meta[field]}) does not match the {field} on the URL "
                f"({wanted})"
            )


def check_kind(obj: JsonObject, resource: Resource) -> None:
    """Refuse an object of another kind; one that names none is taken as the right one.

    Raises:
        ApiError: 400.
    """
    kind, version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    if version != resource.api_version:
        raise errors.bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    if kind != resource.kind:
        raise errors.bad_request(
            f'{kind} in version "{version}" cannot be handled as a {resource.kind}'
        )
    obj["kind"], obj["apiVersion"] = kind, version


def check_meta(obj: JsonObject, strategy: Strategy) -> list[Cause]:
    """Causes against the metadata."""
    meta = obj["metadata"]
    name, (allowed, rule) = meta.get("name", ""), strategy.name_rule
    causes = []
    if not name:
        causes.append(Cause.required("metadata.name", "name or generateName is required"))
    elif not allowed(name):
        causes.append(Cause.invalid("metadata.name", name, rule))
    causes += check_labels("metadata.labels", meta.get("labels") or {})
    for index, finalizer in enumerate(meta.get("finalizers") or []):
        causes += check_key(f"metadata.finalizers[{index}]", finalizer)
    return causes + _check_annotations(meta)


def _check_annotations(meta: JsonObject) -> list[Cause]:
    annotations: dict[str, str] = meta.get("annotations") or {}
    causes = []
    for key in annotations:
        causes += check_key("metadata.annotations", key.lower())
    causes += check_told(annotations)
    if sum(len(k) + len(v) for k, v in annotations.items()) > MAX_ANNOTATION_BYTES:
        text = f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
        causes.append(Cause("FieldValueTooLong", "metadata.annotations", text))
    return causes


def check_uid(old: Record, new: JsonObject) -> list[Cause]:
    """Causes against a write that was made for another object of the name."""
    uid = new["metadata"].get("uid") or old.uid
    return [] if uid == old.uid else [Cause.invalid("metadata.uid", uid, "field is immutable")]


def check_version(target: Target, old: Record, new: JsonObject) -> None:
    """Refuse a write that was made against another version.

    Raises:
        ApiError: 409, or 422 for what is no version.
    """
    version = new["metadata"].get("resourceVersion") or str(old.version)
    if not version.isdecimal() or not version.isascii():
        cause = Cause.invalid("metadata.resourceVersion", version, "must be a number")
        raise errors.invalid(target.resource.group, target.resource.kind, target.name, [cause])
    if version not in ("0", str(old.version)):
        raise errors.stale(target.resource, target.name)


def check_namespace(store: Store, resource: Resource, namespace: str, name: str) -> None:
    """The admission plugin NamespaceLifecycle.

    Raises:
        ApiError: 403, the namespace is going; 404, it is not there.
    """
    if not resource.namespaced:
        return
    found = store.bucket(NAMESPACES).get(("", namespace))
    if found is None:
        raise errors.not_found(NAMESPACES, namespace)
    if found.object["metadata"].get("deletionTimestamp"):
        going = f"namespace {namespace} is being terminated"
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        cause = Cause("NamespaceTerminating", "metadata.namespace", going)
        raise errors.forbidden(resource, name, why, [cause])
