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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff_demo.objects import JsonObject, clone
from bailiff_demo.patches.merge_keys import APPLIED_WHOLE, MERGE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

Path: TypeAlias = tuple[str, ...]
# What an object says: values at the ends of paths, and None where an item of a list is.
Fields: TypeAlias = dict[Path, Any]

# Nobody owns these (managedfields/internal/stripmeta.go).
_UNOWNED: frozenset[Path] = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                *("name", "namespace", "creationTimestamp", "selfLink", "uid"),
                *("generation", "managedFields", "resourceVersion"),
            )
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Owner:
    """One who writes, in one way.

    Attributes:
        manager: name, from `fieldManager` or the User-Agent.
        operation: `Apply` or `Update`.
        api_version: as which it wrote.
        subresource: through which it wrote; empty for the object itself.
    """

    manager: str
    operation: str
    api_version: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """What an owner has.

    Attributes:
        fields: where.
        time: of its last change, as metav1.Time.
    """

    fields: frozenset[Path]
    time: str


Owners: TypeAlias = dict[Owner, Holding]


def after_write(
    owners: Owners, before: Fields, after: Fields, writer: Owner | None, now: str
) -> Owners:
    """Who owns what after a write by another verb than apply: writers own what they changed.

    Args:
        owners: who owned what.
        before: what the object said; empty for a new one.
        after: what it says.
        writer: None for nobody in particular.
        now: metav1.Time.
    """
    changed, left = _left(owners, before, after)
    if writer is None or not changed:
        return left
    kept = left[writer].fields if writer in left else frozenset()
    return {**left, writer: Holding(kept | changed, now)}


def apply_config(
    live: JsonObject, config: JsonObject, owners: Owners, applier: Owner, now: str
) -> tuple[JsonObject, Owners]:
    """Put a configuration into an object: the new state, and who owns what then.

    Args:
        live: the object as it is; empty for none.
        config: all that the applier wants; without nulls.
        owners: of the live object.
        applier: who applies.
        now: metav1.Time.
    """
    wanted = frozenset(fields_of(config))
    last = owners.get(applier)
    others = {owner: holding for owner, holding in owners.items() if owner != applier}
    merged = _merge(live, config)
    if last is not None:
        kept = {("f:metadata",), *_with_parents(wanted)}
        for holding in others.values():
            kept |= _with_parents(holding.fields)
        _remove(merged, _with_parents(last.fields) - kept)
    before, after = fields_of(live), fields_of(merged)
    _, left = _left(others, before, after)
    same = last is not None and last.fields == wanted and before == after
    time = last.time if last is not None and same else now
    return merged, {**left, **({applier: Holding(wanted, time)} if wanted else {})}


def _left(owners: Owners, before: Fields, after: Fields) -> tuple[frozenset[Path], Owners]:
    """What changed, and what the owners have after that; who has nothing any more is gone."""
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
            place = (*path, _element(item, path))
            if _is_whole(path):
                found[place] = item
            else:
                found[place] = None
                _collect(item, place, found)
    else:
        found[path] = value


def _is_whole(path: Path) -> bool:
    return bool(path) and path[-1][2:] in APPLIED_WHOLE


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
            element = _element(item, path)
            whole = _is_whole(path)
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
            owner = Owner(
                str(entry.get("manager", "")),
                str(entry["operation"]),
                str(entry["apiVersion"]),
                str(entry.get("subresource", "")),
            )
            fields = frozenset(_decode(entry["fieldsV1"], ()))
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
    return [_entry(owner, holding) for owner, holding in ordered]


def _entry(owner: Owner, holding: Holding) -> JsonObject:
    entry: JsonObject = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
        "time": holding.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": _encode(holding.fields),
        "subresource": owner.subresource,
    }
    return {name: value for name, value in entry.items() if value != ""}


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
