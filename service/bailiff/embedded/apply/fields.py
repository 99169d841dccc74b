"""Paths of fields in an object, and how managedFields writes sets of them (FieldsV1).

A path is a tuple of elements as FieldsV1 spells them: `f:NAME` for a field, `k:KEYS` for the item
of a keyed list, `v:VALUE` for one of a set, `i:INDEX` for an item whose keys are missing.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from bailiff.embedded.patches.merge_keys import (
    KEY_DEFAULTS,
    MERGED_SETS,
    Names,
    apply_keys,
    is_applied_whole,
)

Path: TypeAlias = tuple[str, ...]
# What an object says: values at the ends of paths, and None where an item of a list is.
Fields: TypeAlias = dict[Path, Any]

_META = "f:metadata"
# Nobody owns these (managedfields/internal/stripmeta.go).
_UNOWNED: frozenset[Path] = frozenset(
    {
        ("f:apiVersion",),
        ("f:kind",),
        *(
            (_META, f"f:{name}")
            for name in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "generation",
                "managedFields",
                "resourceVersion",
            )
        ),
    }
)


def fields_of(obj: Any) -> Fields:  # noqa: ANN401 - any JSON value
    """All that an object says and somebody may own."""
    found: Fields = {}
    _collect(obj, (), (), found)
    return found


def _collect(value: Any, path: Path, names: Names, found: Fields) -> None:  # noqa: ANN401 - any JSON value
    if path in _UNOWNED:
        return
    if isinstance(value, dict) and (value or not path) and not is_applied_whole(names):
        for name, child in value.items():
            _collect(child, (*path, f"f:{name}"), (*names, name), found)
    elif isinstance(value, list) and has_items(names):
        for index, item in enumerate(value):
            _collect_item(item, (*path, element_of(item, names, index)), names, found)
    else:
        found[path] = value


def _collect_item(item: Any, path: Path, names: Names, found: Fields) -> None:  # noqa: ANN401 - any JSON value
    if not isinstance(item, dict) or is_applied_whole(names):
        found[path] = item
        return
    found[path] = None
    for name, child in item.items():
        _collect(child, (*path, f"f:{name}"), (*names, name), found)


def has_items(names: Names) -> bool:
    """Whether the items of a list are owned one by one."""
    return names[-1] in MERGED_SETS or apply_keys(names) is not None


def element_of(item: Any, names: Names, index: int) -> str:  # noqa: ANN401 - any JSON value
    """The path's element for an item of a list whose items are owned one by one."""
    if names[-1] in MERGED_SETS:
        return f"v:{_json(item)}"
    keys = {name: _key(item, name) for name in apply_keys(names) or ()}
    present = {name: value for name, value in keys.items() if value is not None}
    return f"k:{_json(present)}" if set(present) - set(KEY_DEFAULTS) else f"i:{index}"


def _key(item: Any, name: str) -> Any:  # noqa: ANN401 - any JSON value
    return item.get(name, KEY_DEFAULTS.get(name)) if isinstance(item, dict) else None


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def encode_fields(paths: frozenset[Path]) -> dict[str, Any]:
    """As FieldsV1: a tree in which `.` says that the place itself is owned too."""
    tree: dict[str, Any] = {}
    for path in sorted(paths):
        place = tree
        for element in path:
            place = place.setdefault(element, {})
        place["."] = {}
    return _without_lone_dots(tree)


def _without_lone_dots(tree: dict[str, Any]) -> dict[str, Any]:
    if tree.keys() == {"."}:
        return {}
    return {name: _without_lone_dots(below) for name, below in tree.items()}


def decode_fields(tree: Any) -> frozenset[Path]:  # noqa: ANN401 - any JSON value
    """The paths of a FieldsV1 tree.

    Raises:
        TypeError, ValueError: it is none.
    """
    found: set[Path] = set()
    _decode(tree, (), found)
    return frozenset(found)


def _decode(tree: Any, path: Path, found: set[Path]) -> None:  # noqa: ANN401 - any JSON value
    if not isinstance(tree, dict):
        raise TypeError(f"not a FieldsV1 tree at {path}")
    if path and (not tree or "." in tree):
        found.add(path)
    for element, below in tree.items():
        if element == ".":
            continue
        if element[:2] not in ("f:", "k:", "v:", "i:"):
            raise ValueError(f"not an element of a path: {element}")
        _decode(below, (*path, element), found)


def text_of(path: Path) -> str:
    """As messages name it: `.spec.containers[name="a"].image`."""
    return "".join(_element_text(element) for element in path)


def _element_text(element: str) -> str:
    kind, rest = element[0], element[2:]
    if kind == "f":
        return f".{rest}"
    if kind == "v":
        return f"[={rest}]"
    if kind == "i":
        return f"[{rest}]"
    return "[" + ",".join(f"{k}={_json(v)}" for k, v in json.loads(rest).items()) + "]"
