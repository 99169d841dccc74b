"""JSON merge patch (RFC 7386)."""

from __future__ import annotations

from typing import Any

from bailiff.embedded.objects import clone


def apply_merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The target with the patch merged in: null deletes, objects merge, all else replaces."""
    if not isinstance(patch, dict):
        return clone(patch)
    merged = clone(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = apply_merge_patch(merged.get(key), value)
    return merged
