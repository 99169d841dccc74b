"""Strategic merge patch (apimachinery/pkg/util/strategicpatch/patch.go).

Objects merge key by key, null deletes, lists merge as merge_keys.py says. Directives:
`$patch: replace | delete | merge`, `$retainKeys`, `$setElementOrder/LIST` and
`$deleteFromPrimitiveList/LIST`.
"""

from __future__ import annotations

from typing import Any

from bailiff.embedded import errors
from bailiff.embedded.objects import JsonObject, clone
from bailiff.embedded.patches.merge_keys import MERGE_KEYS, MERGED_SETS

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_FROM = "$deleteFromPrimitiveList/"


def apply_strategic_patch(obj: JsonObject, patch: JsonObject) -> JsonObject:
    """The object with the patch merged in.

    Raises:
        ApiError: 400, a directive is wrong or a list item lacks its merge key.
    """
    return _merge_object(clone(obj), patch)


def _merge_object(original: JsonObject, patch: JsonObject) -> JsonObject:
    directive = patch.get(_PATCH)
    if directive == "replace":
        replaced: JsonObject = _without_directives(patch)
        return replaced
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise errors.bad_request(f"Unknown patch type found: {directive}")
    _retain(original, patch)
    for key, value in patch.items():
        if key.startswith(_DELETE_FROM):
            _delete_values(original, key.removeprefix(_DELETE_FROM), value)
        elif not key.startswith("$"):
            _merge_field(original, key, value, patch.get(_ORDER + key))
    _reorder_unpatched(original, patch)
    return original


def _retain(original: JsonObject, patch: JsonObject) -> None:
    retained = patch.get(_RETAIN)
    if retained is None:
        return
    if not isinstance(retained, list):
        raise errors.bad_request("unable to parse retainKeys list")
    if any(key not in retained for key in patch if not key.startswith("$")):
        raise errors.bad_request("the patch sets a key that $retainKeys does not name")
    for key in [key for key in original if key not in retained]:
        del original[key]


def _delete_values(original: JsonObject, key: str, values: Any) -> None:  # noqa: ANN401 - any JSON value
    if not isinstance(values, list):
        raise errors.bad_request(f"{_DELETE_FROM}{key} must be a list")
    if isinstance(original.get(key), list):
        original[key] = [item for item in original[key] if item not in values]


def _merge_field(original: JsonObject, key: str, value: Any, order: Any) -> None:  # noqa: ANN401 - any JSON value
    if value is None:
        original.pop(key, None)
    elif isinstance(value, dict) and isinstance(original.get(key), dict):
        original[key] = _merge_object(original[key], value)
    elif isinstance(value, list) and (key in MERGE_KEYS or key in MERGED_SETS):
        present = original.get(key)
        original[key] = _merge_list(present if isinstance(present, list) else [], value, key, order)
    else:
        original[key] = _without_directives(value)


def _reorder_unpatched(original: JsonObject, patch: JsonObject) -> None:
    """A list may be put into another order without being changed."""
    for name, order in patch.items():
        key = name.removeprefix(_ORDER)
        if key == name or key in patch or not isinstance(original.get(key), list):
            continue
        original[key] = _in_order(original[key], _order_list(order), original[key], key)


def _merge_list(present: list[Any], changes: list[Any], key: str, order: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    if key in MERGED_SETS:
        merged = [*present, *(item for item in changes if item not in present)]
        return _in_order(merged, _order_list(order, changes), present, key)
    if any(_directive(item) == "replace" for item in changes):
        return [_without_directives(item) for item in changes if _directive(item) != "replace"]
    merged = list(present)
    for change in changes:
        _merge_item(merged, change, key)
    wanted = [item for item in changes if _directive(item) != "delete"]
    return _in_order(merged, _order_list(order, wanted), present, key)


def _order_list(order: Any, otherwise: list[Any] | None = None) -> list[Any]:  # noqa: ANN401 - any JSON value
    if order is None:
        return otherwise or []
    if not isinstance(order, list):
        raise errors.bad_request("$setElementOrder must be a list")
    return order


def _merge_item(merged: list[Any], change: Any, key: str) -> None:  # noqa: ANN401 - any JSON value
    identity = _identity(change, key)
    place = next((i for i, item in enumerate(merged) if _identity(item, key) == identity), None)
    if _directive(change) == "delete":
        if place is not None:
            del merged[place]
    elif place is None:
        merged.append(_without_directives(change))
    else:
        merged[place] = _merge_object(merged[place], change)


def _directive(item: Any) -> Any:  # noqa: ANN401 - any JSON value
    return item.get(_PATCH) if isinstance(item, dict) else None


def _identity(item: Any, key: str) -> Any:  # noqa: ANN401 - any JSON value
    if key in MERGED_SETS:
        return item
    merge_key = MERGE_KEYS[key]
    if not isinstance(item, dict) or merge_key not in item:
        raise errors.bad_request(f"map: {item} does not contain declared merge key: {merge_key}")
    return item[merge_key]


def _in_order(merged: list[Any], order: list[Any], server: list[Any], key: str) -> list[Any]:
    """Named items in the order named, the others where the server had them among those."""
    wanted = [_identity(item, key) for item in order]
    before = [_identity(item, key) for item in server]
    named = [item for item in merged if _identity(item, key) in wanted]
    named.sort(key=lambda item: wanted.index(_identity(item, key)))
    others = [item for item in merged if _identity(item, key) not in wanted]
    ordered: list[Any] = []
    while named and others:
        first, second = _identity(named[0], key), _identity(others[0], key)
        both = first in before and second in before
        take_named = both and before.index(first) < before.index(second)
        ordered.append((named if take_named else others).pop(0))
    return ordered + named + others


def _without_directives(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A copy as it enters an object that had nothing there."""
    if isinstance(value, dict):
        return {
            k: _without_directives(v)
            for k, v in value.items()
            if v is not None and not k.startswith((_PATCH, _RETAIN, _ORDER, _DELETE_FROM))
        }
    if isinstance(value, list):
        return [_without_directives(item) for item in value if _directive(item) is None]
    return value
