"""Strategic merge patch (apimachinery/pkg/util/strategicpatch/patch.go).

Objects merge key by key, null deletes, lists merge as merge_keys.py says. Directives:
`$patch: replace | delete | merge`, `$retainKeys`, `$setElementOrder/LIST` and
`$deleteFromPrimitiveList/LIST`.
"""

from __future__ import annotations

from typing import Any

from bailiff_demo import errors
from bailiff_demo.objects import JsonObject, clone
from bailiff_demo.patches.merge_keys import MERGE_KEYS, MERGED_SETS

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
    for key in original.keys() - _list(patch.get(_RETAIN, [*original]), _RETAIN):
        del original[key]
    for key, value in patch.items():
        name = key.removeprefix(_DELETE_FROM)
        if name != key:
            gone = _list(value, key)
            original[name] = [i for i in _list(original.get(name, []), name) if i not in gone]
        elif not key.startswith("$"):
            _merge_field(original, key, value, patch.get(_ORDER + key))
    return original


def _list(value: Any, what: str) -> list[Any]:  # noqa: ANN401 - any JSON value
    if not isinstance(value, list) or not all(isinstance(v, str | dict) for v in value):
        raise errors.bad_request(f"{what} must be a list")
    return value


def _merge_field(original: JsonObject, key: str, value: Any, order: Any) -> None:  # noqa: ANN401 - any JSON value
    present = original.get(key)
    if value is None:
        original.pop(key, None)
    elif isinstance(value, dict) and isinstance(present, dict):
        original[key] = _merge_object(present, value)
    elif isinstance(value, list) and key in MERGED_SETS:
        before = present if isinstance(present, list) else []
        original[key] = [*before, *(item for item in value if item not in before)]
    elif isinstance(value, list) and key in MERGE_KEYS:
        merged = _merge_list(present if isinstance(present, list) else [], value, MERGE_KEYS[key])
        original[key] = _in_order(merged, _list(order or [], _ORDER + key), MERGE_KEYS[key])
    else:
        original[key] = _without_directives(value)


def _merge_list(present: list[Any], changes: list[Any], key: str) -> list[Any]:
    if any(_directive(item) == "replace" for item in changes):
        return [_without_directives(item) for item in changes if _directive(item) != "replace"]
    merged = {_identity(item, key): item for item in present}
    for change in changes:
        identity = _identity(change, key)
        if _directive(change) == "delete":
            merged.pop(identity, None)
        else:
            merged[identity] = _merge_object(merged.get(identity, {}), change)
    return list(merged.values())


def _directive(item: Any) -> Any:  # noqa: ANN401 - any JSON value
    return item.get(_PATCH) if isinstance(item, dict) else None


def _identity(item: Any, key: str) -> str:  # noqa: ANN401 - any JSON value
    if not isinstance(item, dict) or key not in item:
        raise errors.bad_request(f"map: {item} does not contain declared merge key: {key}")
    return repr(item[key])


def _in_order(merged: list[Any], order: list[Any], key: str) -> list[Any]:
    """Named items in the order named; those that the server alone has come after them."""
    wanted = [_identity(item, key) for item in order]
    places = {identity: place for place, identity in enumerate(wanted)}
    return sorted(merged, key=lambda item: places.get(_identity(item, key), len(places)))


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
