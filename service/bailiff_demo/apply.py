"""Server-side apply and metadata.managedFields: who wrote which field, and when (KEP-555).

Every manager has one entry for each way in which it writes. A write takes the fields that it
changes from whoever had them. An apply also takes away what its manager applied before, does not
apply any more and nobody else has. There are no conflicts: an apply always gets what it wants, as
with `force=true`.

A path is a tuple of elements as FieldsV1 spells them: `f:NAME` for a field, `k:KEYS` for the item
of a keyed list.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from bailiff_demo import errors
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject, clone
from bailiff_demo.patches import MERGE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff_demo.registry.meta import Target

APPLY = "application/apply-patch+yaml"

Path: TypeAlias = tuple[str, ...]
# What an object says: values at the ends of paths, and None where an item of a list is.
Fields: TypeAlias = dict[Path, Any]

# Nobody owns these (managedfields/internal/stripmeta.go).
_UNOWNED = frozenset(
    ("f:metadata", f"f:{name}")
    for name in (
        *("name", "namespace", "creationTimestamp", "selfLink", "uid"),
        *("generation", "managedFields", "resourceVersion"),
    )
) | {("f:apiVersion",), ("f:kind",)}
# Objects, and lists of them, whose fields have one owner together.
_WHOLE = frozenset({"labelSelector", "nodeSelector", "ownerReferences", "selector"})


class Owner(NamedTuple):
    """One who writes, in one way."""

    manager: str
    operation: str
    api_version: str
    subresource: str = ""


class Holding(NamedTuple):
    """What an owner has, and when it last changed that (metav1.Time)."""

    fields: frozenset[Path]
    time: str


Owners: TypeAlias = dict[Owner, Holding]


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
    whole = not target.subresource
    owners = (decode_owners(sent) if whole else {}) or decode_owners(stored)
    if whole and sent in ([], [{}]):
        # The client's way to say that all is to be forgotten.
        owners = {}
    before, after = _written(target, old or {}), _written(target, new)
    changed, owners = _after(owners, before, after)
    if manager and changed:
        writer = _owner(target, manager, "Update")
        kept = owners[writer].fields if writer in owners else frozenset()
        owners[writer] = Holding(kept | changed, now)
    if owners:
        new["metadata"]["managedFields"] = encode_owners(owners)


def apply_config(
    target: Target, live: JsonObject, config: JsonObject, manager: str, now: str
) -> JsonObject:
    """The object after an apply; what its endpoint does not write is left out.

    Args:
        target: through what is applied.
        live: the object as it is; empty for none.
        config: all that the manager wants; without nulls.
        manager: who applies.
        now: metav1.Time.

    Raises:
        ApiError: 400, the configuration has managedFields; 422, no manager.
    """
    if not manager:
        cause = Cause.required("fieldManager", "is required for apply patch")
        raise errors.invalid_option("PatchOptions", cause)
    if config["metadata"].pop("managedFields", None) is not None:
        raise errors.bad_request("metadata.managedFields must be nil")
    config, applier = _wanted(target, config), _owner(target, manager, "Apply")
    owners = decode_owners(live["metadata"].get("managedFields")) if live else {}
    wanted, last = frozenset(fields_of(config)), owners.pop(applier, None)
    merged: JsonObject = _merge(live, config)
    if last is not None:
        others = {path for holding in owners.values() for path in holding.fields}
        # Who owns a field of an item, and not the item, does not keep it.
        held = {p for p in _with_parents(others) if p in others or not p[-1].startswith("k:")}
        kept = {("f:metadata",), *_with_parents(wanted), *held}
        _remove(merged, _with_parents(last.fields) - kept)
    before, after = fields_of(live), fields_of(merged)
    _, owners = _after(owners, before, after)
    same = last is not None and last.fields == wanted and before == after
    if wanted:
        owners[applier] = Holding(wanted, last.time if last and same else now)
    merged.setdefault("metadata", {})["managedFields"] = encode_owners(owners)
    return merged


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
    parts = set(obj)
    if target.resource.status:
        of_status = target.subresource == "status"
        parts = {"status", "metadata"} if of_status else parts - {"status"}
    return fields_of({name: value for name, value in obj.items() if name in parts})


def _after(owners: Owners, before: Fields, after: Fields) -> tuple[frozenset[Path], Owners]:
    """What a write changed, and what the owners have after that; who has nothing is gone."""
    changed = frozenset(p for p, v in after.items() if p not in before or before[p] != v)
    taken = changed | (before.keys() - after.keys())
    left = {owner: Holding(h.fields - taken, h.time) for owner, h in owners.items()}
    return changed, {owner: holding for owner, holding in left.items() if holding.fields}


def _with_parents(paths: Iterable[Path]) -> set[Path]:
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}


def fields_of(obj: JsonObject) -> Fields:
    """All that an object says and somebody may own."""
    found: Fields = {}
    _collect(obj, (), found)
    return found


def _collect(value: Any, path: Path, found: Fields) -> None:  # noqa: ANN401 - any JSON value
    if path in _UNOWNED:
        return
    if isinstance(value, dict) and (value or not path) and not _is_whole(path):
        for name, child in value.items():
            _collect(child, (*path, f"f:{name}"), found)
    elif isinstance(value, list) and _has_items(path, value):
        for item in value:
            place, whole = (*path, _element(item, path)), _is_whole(path)
            found[place] = item if whole else None
            if not whole:
                _collect(item, place, found)
    else:
        found[path] = value


def _is_whole(path: Path) -> bool:
    return bool(path) and path[-1][2:] in _WHOLE


def _has_items(path: Path, *values: list[Any]) -> bool:
    """Whether the items of a list are owned one by one, which needs a key in each."""
    key = MERGE_KEYS.get(path[-1][2:]) if path else None
    items = [item for value in values for item in value]
    return key is not None and all(isinstance(item, dict) and key in item for item in items)


def _element(item: JsonObject, path: Path) -> str:
    key = MERGE_KEYS[path[-1][2:]]
    keys = {key: item[key]}
    if key == "containerPort":
        keys["protocol"] = item.get("protocol", "TCP")
    return f"k:{json.dumps(keys, sort_keys=True, separators=(',', ':'))}"


def _merge(live: Any, config: Any, path: Path = ()) -> Any:  # noqa: ANN401 - any JSON value
    """The live value with the configuration's fields; neither is changed."""
    if isinstance(live, dict) and isinstance(config, dict) and not _is_whole(path):
        merged = clone(live)
        for name, value in config.items():
            merged[name] = _merge(live.get(name), value, (*path, f"f:{name}"))
        return merged
    if isinstance(live, list) and isinstance(config, list) and _has_items(path, live, config):
        items = {_element(item, path): clone(item) for item in live}
        for item in config:
            element, whole = _element(item, path), _is_whole(path)
            items[element] = item if whole else _merge(items.get(element), item, (*path, element))
        return list(items.values())
    return clone(config)


def _remove(obj: JsonObject, paths: set[Path]) -> None:
    """Take places out of an object; of nested ones only the outermost need to go."""
    for path in paths:
        if path[:-1] in paths:
            continue
        parent: Any = obj
        for depth, element in enumerate(path[:-1]):
            parent = _child(parent, element, path[:depth])
        if isinstance(parent, dict):
            parent.pop(path[-1][2:], None)
        elif isinstance(parent, list) and _has_items(path[:-1], parent):
            parent[:] = [item for item in parent if _element(item, path[:-1]) != path[-1]]


def _child(parent: Any, element: str, path: Path) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(parent, dict):
        return parent.get(element[2:])
    if isinstance(parent, list) and _has_items(path, parent):
        return next((item for item in parent if _element(item, path) == element), None)
    return None


def decode_owners(entries: Any) -> Owners:  # noqa: ANN401 - any JSON value
    """From metadata.managedFields; if one entry is not understood, nobody owns anything."""
    owners: Owners = {}
    try:
        for entry in entries or []:
            names = ("manager", "operation", "apiVersion", "subresource")
            owner = Owner(*(str(entry.get(name, "")) for name in names))
            fields = frozenset(_decode(entry["fieldsV1"], ())) - _UNOWNED
            owners[owner] = Holding(fields, str(entry.get("time", "")))
    except (AttributeError, KeyError, TypeError):
        return {}
    return owners


def _decode(tree: JsonObject, path: Path) -> Iterable[Path]:
    if path and (not tree or "." in tree):
        yield path
    for element, below in tree.items():
        if element != ".":
            yield from _decode(below, (*path, element))


def encode_owners(owners: Owners) -> list[JsonObject]:
    """As metadata.managedFields; appliers first, then by time."""
    ordered = sorted(owners.items(), key=lambda i: (i[0].operation, i[1].time, i[0].manager))
    entries: list[JsonObject] = [
        {
            "manager": owner.manager,
            "operation": owner.operation,
            "apiVersion": owner.api_version,
            "time": holding.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _encode(holding.fields),
            "subresource": owner.subresource,
        }
        for owner, holding in ordered
    ]
    return [{k: v for k, v in entry.items() if v != ""} for entry in entries]


def _encode(paths: frozenset[Path]) -> JsonObject:
    """As FieldsV1: a tree in which `.` says that a place with others below is owned itself."""
    tree: JsonObject = {}
    for path in sorted(paths):
        place = tree
        for depth, element in enumerate(path):
            if path[:depth] in paths:
                place["."] = {}
            place = place.setdefault(element, {})
    return tree
