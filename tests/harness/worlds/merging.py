"""Patches as the API server merges them, as far as the worker sends any."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def merge_patch(current: Object, patch: Object) -> Object:
    """A JSON merge patch (RFC 7386): null takes away, objects merge, all else replaces."""
    merged = dict(current)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            merged[key] = merge_patch(merged.get(key, {}), value)
        else:
            merged[key] = value
    return merged


def strategic_merge(current: Object, patch: Object) -> Object:
    """A strategic merge patch, where the lists are conditions: those of one type merge.

    Their patchMergeKey is `type` (k8s.io/api/core/v1/types.go, PodStatus); `$patch: delete` takes
    one away (apimachinery pkg/util/strategicpatch).
    """
    merged = dict(current)
    for key, value in patch.items():
        if isinstance(value, dict):
            merged[key] = strategic_merge(merged.get(key, {}), value)
        elif isinstance(value, list):
            merged[key] = _merge_conditions(merged.get(key, []), value)
        else:
            merged[key] = value
    return merged


def _merge_conditions(current: list[Object], patch: list[Object]) -> list[Object]:
    merged = {one["type"]: one for one in current}
    for one in patch:
        if one.get("$patch") == "delete":
            merged.pop(one["type"], None)
        else:
            merged[one["type"]] = merged.get(one["type"], {}) | one
    return list(merged.values())
