"""The patch languages that the server takes (apply, the fourth, is in apply.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff_demo import errors
from bailiff_demo.objects import clone
from bailiff_demo.patches.json_patch import apply_json_patch
from bailiff_demo.patches.strategic import apply_strategic_patch

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

__all__ = ["APPLY", "PATCH_TYPES", "apply_patch"]

_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCH = "application/merge-patch+json"
_STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = (_JSON_PATCH, _MERGE_PATCH, _STRATEGIC_PATCH)
# Not a change of an object but all that its manager wants of it.
APPLY = "application/apply-patch+yaml"


def apply_patch(media_type: str, obj: JsonObject, patch: object) -> JsonObject:
    """The object with a patch applied; neither argument is changed.

    Args:
        media_type: one of PATCH_TYPES.
        obj: the object as it is.
        patch: the parsed body.

    Raises:
        ApiError: 400, no such patch; 422, it does not fit the object.
    """
    if media_type == _JSON_PATCH:
        patched = apply_json_patch(obj, patch)
    elif not isinstance(patch, dict):
        raise errors.bad_request("the patch must be a JSON object")
    elif media_type == _MERGE_PATCH:
        patched = _apply_merge_patch(obj, patch)
    else:
        patched = apply_strategic_patch(obj, patch)
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise errors.bad_request("the patched object has no metadata")
    return patched


def _apply_merge_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """RFC 7386: null deletes, objects merge, all else replaces."""
    if not isinstance(patch, dict):
        return clone(patch)
    merged = clone(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _apply_merge_patch(merged.get(key), value)
    return merged
