"""Putting a configuration into an object, and taking out of it what nobody owns any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.embedded.apply.fields import element_of, has_items
from bailiff.embedded.objects import JsonObject, clone
from bailiff.embedded.patches.merge_keys import is_applied_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.embedded.apply.fields import Path
    from bailiff.embedded.patches.merge_keys import Names


def merge(live: Any, config: Any, names: Names = ()) -> Any:  # noqa: ANN401 - any JSON value
    """The live value with the configuration's fields; neither is changed."""
    if is_applied_whole(names):
        return clone(config)
    if isinstance(live, dict) and isinstance(config, dict):
        merged = {name: value for name, value in live.items() if name not in config}
        for name, value in config.items():
            merged[name] = merge(live.get(name), value, (*names, name))
        return clone(merged)
    if isinstance(live, list) and isinstance(config, list) and has_items(names):
        return _merge_items(live, config, names)
    return clone(config)


def _merge_items(live: list[Any], config: list[Any], names: Names) -> list[Any]:
    merged = {element_of(item, names, index): item for index, item in enumerate(live)}
    for index, item in enumerate(config):
        element = element_of(item, names, index)
        merged[element] = merge(merged.get(element), item, names)
    return [clone(item) for item in merged.values()]


def remove(obj: JsonObject, paths: Iterable[Path]) -> None:
    """Take places out of an object."""
    for path in paths:
        parent = obj
        found: Any = parent
        names: Names = ()
        for element in path[:-1]:
            found = _child(found, element, names)
            names = (*names, element[2:]) if element.startswith("f:") else names
        _drop(found, path[-1], names)


def _child(parent: Any, element: str, names: Names) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(parent, dict):
        return parent.get(element[2:])
    place = _place(parent, element, names)
    return None if place is None else parent[place]


def _drop(parent: Any, element: str, names: Names) -> None:  # noqa: ANN401 - any JSON value
    if isinstance(parent, dict):
        parent.pop(element[2:], None)
    elif (place := _place(parent, element, names)) is not None:
        del parent[place]


def _place(items: Any, element: str, names: Names) -> int | None:  # noqa: ANN401 - any JSON value
    if not isinstance(items, list) or not has_items(names):
        return None
    places = range(len(items))
    return next((i for i in places if element_of(items[i], names, i) == element), None)
