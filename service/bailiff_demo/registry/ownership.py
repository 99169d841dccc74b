"""metadata.managedFields through the verbs: who wrote what, through which endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.apply import (
    Fields,
    Owner,
    after_write,
    apply_config,
    decode_owners,
    encode_owners,
    fields_of,
)
from bailiff_demo.errors import Cause

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject
    from bailiff_demo.registry.target import Target


def record_write(
    target: Target, new: JsonObject, old: JsonObject | None, manager: str, now: str
) -> None:
    """Say in an object that is to be written who owns what then.

    Args:
        target: through what it was written.
        new: the object, with the managedFields that the client sent, if any.
        old: its stored state; None for a new one.
        manager: who wrote; empty for nobody in particular.
        now: metav1.Time.
    """
    sent = new["metadata"].pop("managedFields", None)
    stored = None if old is None else old["metadata"].get("managedFields")
    # A client that empties the list, or leaves one empty entry, wants all to be forgotten.
    reset = sent in ([], [{}]) and not target.subresource
    owners = decode_owners(sent if not target.subresource else None) or decode_owners(stored)
    owners = {} if reset else owners
    if manager or owners:
        before = {} if old is None else _written(target, old)
        writer = _owner(target, manager, "Update") if manager else None
        owners = after_write(owners, before, _written(target, new), writer, now)
    if owners:
        new["metadata"]["managedFields"] = encode_owners(owners)


def apply_to(
    target: Target, live: JsonObject, config: JsonObject, manager: str, now: str
) -> JsonObject:
    """The object after an apply, with what its endpoint does not write left out.

    Raises:
        ApiError: 400, no such configuration; 422, no manager.
    """
    if not manager:
        cause = Cause.required("fieldManager", "is required for apply patch")
        raise errors.invalid_option("PatchOptions", cause)
    if config["metadata"].pop("managedFields", None) is not None:
        raise errors.bad_request("metadata.managedFields must be nil")
    owners = decode_owners(live["metadata"].get("managedFields")) if live else {}
    applier = _owner(target, manager, "Apply")
    obj, owners = apply_config(live, _wanted(target, config), owners, applier, now)
    obj.setdefault("metadata", {})["managedFields"] = encode_owners(owners)
    return obj


def _owner(target: Target, manager: str, operation: str) -> Owner:
    version = target.resource.stored_as or target.resource.api_version
    return Owner(manager, operation, version, target.subresource)


def _wanted(target: Target, config: JsonObject) -> JsonObject:
    """What of a configuration the endpoint writes (the strategies' GetResetFields)."""
    resource = target.resource
    if target.subresource != "status":
        return {k: v for k, v in config.items() if not (resource.status and k == "status")}
    kept = {k: v for k, v in config.items() if k in ("apiVersion", "kind", "metadata", "status")}
    if resource.status_keeps_metadata:
        named = ("name", "namespace", "uid", "resourceVersion")
        kept["metadata"] = {k: v for k, v in config["metadata"].items() if k in named}
    return kept


def _written(target: Target, obj: JsonObject) -> Fields:
    """The fields of an object that a write through the endpoint can have changed."""
    fields = fields_of(obj)
    if not target.resource.status:
        return fields
    places = {("f:status",), ("f:metadata",)} if target.subresource == "status" else None
    return {
        path: value
        for path, value in fields.items()
        if (path[:1] in places if places else path[0] != "f:status")
    }
