"""metadata: what the server owns of it, and what is refused (api/validation/objectmeta.go)."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import Cause
from bailiff.embedded.rules.names import check_key, check_labels, qualified_name

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.registry.target import Target
    from bailiff.embedded.rules import Strategy

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


def prepare_new(obj: JsonObject, namespace: str) -> None:
    """Drop what a client may not set, and give a name where one is to be generated.

    Raises:
        ApiError: 400, the namespace is another one than the path's; 422, no name at all.
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
        if not isinstance(fields, dict):
            continue
        for name in names:
            if name in fields and not fields[name]:
                del fields[name]


def keep_owned(new: JsonObject, old: JsonObject) -> None:
    """Take the server's own fields from the stored object."""
    meta, before = new["metadata"], old["metadata"]
    for name in _OWNED:
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
    name = meta.setdefault("name", target.name)
    if name != target.name:
        message = (
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
        raise errors.bad_request(message)
    if target.namespace and meta.setdefault("namespace", target.namespace) != target.namespace:
        message = (
            f"the namespace of the object ({meta['namespace']}) does not match the namespace on "
            f"the URL ({target.namespace})"
        )
        raise errors.bad_request(message)


def check_kind(obj: JsonObject, kind: str, api_version: str) -> None:
    """Refuse an object of another kind; one that names none is taken as the right one.

    Raises:
        ApiError: 400.
    """
    found_kind, found_version = obj.get("kind") or kind, obj.get("apiVersion") or api_version
    if found_version != api_version:
        raise errors.bad_request(
            f"the API version in the data ({found_version}) does not match the expected API "
            f"version ({api_version})"
        )
    if found_kind != kind:
        raise errors.bad_request(
            f'{found_kind} in version "{found_version}" cannot be handled as a {kind}'
        )
    obj["kind"], obj["apiVersion"] = kind, api_version


def check_meta(obj: JsonObject, strategy: Strategy) -> list[Cause]:
    """Causes against the metadata."""
    meta = obj["metadata"]
    name = meta.get("name", "")
    causes = []
    if not name:
        causes.append(Cause.required("metadata.name", "name or generateName is required"))
    elif wrong := strategy.check_name(name):
        causes.append(Cause.invalid("metadata.name", name, wrong))
    causes += check_labels("metadata.labels", meta.get("labels") or {})
    return causes + _check_annotations(meta) + _check_references(meta)


def _check_annotations(meta: JsonObject) -> list[Cause]:
    annotations: dict[str, str] = meta.get("annotations") or {}
    causes = []
    for key in annotations:
        causes += check_key("metadata.annotations", key.lower())
    size = sum(len(k) + len(v) for k, v in annotations.items())
    if size > MAX_ANNOTATION_BYTES:
        text = f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes"
        causes.append(Cause("FieldValueTooLong", "metadata.annotations", text))
    return causes


def _check_references(meta: JsonObject) -> list[Cause]:
    causes = []
    for index, finalizer in enumerate(meta.get("finalizers") or []):
        if wrong := qualified_name(finalizer):
            causes.append(Cause.invalid(f"metadata.finalizers[{index}]", finalizer, wrong))
    owners = meta.get("ownerReferences") or []
    for owner in owners:
        causes += [
            Cause.invalid(f"metadata.ownerReferences.{name}", "", f"{name} must not be empty")
            for name in ("apiVersion", "kind", "name", "uid")
            if not owner.get(name)
        ]
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        text = "Only one reference can have Controller set to true"
        causes.append(Cause.invalid("metadata.ownerReferences", "", text))
    return causes
