"""metadata.managedFields through the verbs: who wrote what, and who stands in an apply's way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.apply import (
    APPLY,
    UPDATE,
    Applied,
    Conflict,
    Owner,
    Owners,
    after_write,
    apply_config,
    decode_owners,
    encode_owners,
)
from bailiff.embedded.apply.fields import Fields, element_of, fields_of, has_items, text_of
from bailiff.embedded.errors import ApiError, Cause
from bailiff.embedded.objects import part

if TYPE_CHECKING:
    from typing import Any

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.patches.merge_keys import Names
    from bailiff.embedded.registry.target import Target


_KUBECTL = "kubectl"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


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
    if _is_reset(sent) and not target.subresource:
        owners = {}
    else:
        owners = ({} if target.subresource else decode_owners(sent)) or decode_owners(stored)
    if manager or owners:
        before = {} if old is None else _owned(target, fields_of(old))
        writer = _owner(target, manager, UPDATE) if manager else None
        owners = after_write(owners, before, _owned(target, fields_of(new)), writer, now)
    if owners:
        new["metadata"]["managedFields"] = encode_owners(owners)


def _is_reset(entries: object) -> bool:
    """A client empties the list or leaves one empty entry: all are to be forgotten."""
    return entries in ([], [{}])


def apply_to(
    target: Target, live: JsonObject, config: JsonObject, manager: str, *, force: bool, now: str
) -> Applied:
    """An apply, with what its endpoint does not write left out.

    Raises:
        ApiError: 400, no such configuration; 409, a field is another's; 422, no manager.
    """
    if not manager:
        cause = Cause.required("fieldManager", "is required for apply patch")
        raise errors.invalid("meta.k8s.io", "PatchOptions", "", [cause])
    if config["metadata"].pop("managedFields", None) is not None:
        raise errors.bad_request("metadata.managedFields must be nil")
    _check_items(config, ())
    owners = _owners_of(target, live, now)
    wanted = _written(target, config)
    applied = apply_config(live, wanted, owners, _owner(target, manager, APPLY), now)
    if applied.conflicts and not force and not _is_moving(live, manager, applied.conflicts):
        raise _refusal(applied.conflicts)
    applied.object.setdefault("metadata", {})["managedFields"] = encode_owners(applied.owners)
    return applied


def _is_moving(live: JsonObject, manager: str, conflicts: tuple[Conflict, ...]) -> bool:
    """Whether kubectl moves over from its own apply (lastappliedmanager.go)."""
    if manager != _KUBECTL:
        return False
    try:
        last = json.loads(part(live, "metadata", "annotations").get(_LAST_APPLIED, ""))
    except ValueError:
        return False
    owned = fields_of(last) if isinstance(last, dict) else {}
    return all(conflict.path in owned for conflict in conflicts)


def _owners_of(target: Target, live: JsonObject, now: str) -> Owners:
    """Who owns a live object; if nobody does, one for all (skipnonapplied.go)."""
    if not live:
        return {}
    found = decode_owners(live["metadata"].get("managedFields"))
    if found:
        return found
    before = Owner("before-first-apply", UPDATE, target.resource.api_version)
    return after_write({}, {}, _owned(target, fields_of(live)), before, now)


def _owner(target: Target, manager: str, operation: str) -> Owner:
    return Owner(manager, operation, target.resource.api_version, target.subresource)


def _written(target: Target, config: JsonObject) -> JsonObject:
    """What of a configuration the endpoint writes (the strategies' GetResetFields)."""
    resource = target.resource
    if target.subresource == "status":
        names = {"apiVersion", "kind", "metadata", "status"}
        kept = {name: value for name, value in config.items() if name in names}
        if resource.status_keeps_metadata:
            named = ("name", "namespace", "uid", "resourceVersion")
            kept["metadata"] = {k: v for k, v in config["metadata"].items() if k in named}
        return kept
    return {k: v for k, v in config.items() if not (resource.status and k == "status")}


def _owned(target: Target, fields: Fields) -> Fields:
    """Fields that a write through the endpoint can have changed."""
    if not target.resource.status:
        return fields
    of_status = target.subresource == "status"
    return {
        path: value
        for path, value in fields.items()
        if (path[0] == "f:status") == of_status or (of_status and path[0] == "f:metadata")
    }


def _check_items(value: Any, names: Names) -> None:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        for name, child in value.items():
            _check_items(child, (*names, name))
    elif isinstance(value, list) and names and has_items(names):
        seen: set[str] = set()
        for index, item in enumerate(value):
            _check_items(item, names)
            element = element_of(item, names, index)
            if element in seen:
                path = text_of(tuple(f"f:{name}" for name in names))
                twice = text_of((element,))
                why = f"{path}: duplicate entries for key {twice}"
                raise errors.bad_request(f"failed to create typed patch object: {why}")
            seen.add(element)


def _refusal(conflicts: tuple[Conflict, ...]) -> ApiError:
    causes = [
        Cause("FieldManagerConflict", text_of(c.path), f"conflict with {_name(c)}")
        for c in conflicts
    ]
    if len(conflicts) == 1:
        text = f"1 conflict: conflict with {_name(conflicts[0])}: {text_of(conflicts[0].path)}"
    else:
        text = f"{len(conflicts)} conflicts: {_listed(conflicts)}"
    return errors.apply_conflict(f"Apply failed with {text}", causes)


def _listed(conflicts: tuple[Conflict, ...]) -> str:
    by_owner: dict[str, list[str]] = {}
    for conflict in conflicts:
        by_owner.setdefault(_name(conflict), []).append(f"- {text_of(conflict.path)}")
    parts = ["\n".join([f"conflicts with {name}:", *by_owner[name]]) for name in sorted(by_owner)]
    return "\n".join(parts)


def _name(conflict: Conflict) -> str:
    owner = conflict.owner
    text = errors.quote(owner.manager)
    if owner.subresource:
        text += f" with subresource {errors.quote(owner.subresource)}"
    if owner.operation == UPDATE:
        text += f" using {owner.api_version}"
    return text
