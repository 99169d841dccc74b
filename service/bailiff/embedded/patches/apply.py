"""Which language a patch is written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.patches.json_patch import apply_json_patch
from bailiff.embedded.patches.merge_patch import apply_merge_patch
from bailiff.embedded.patches.strategic import apply_strategic_patch

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
# Not a patch of an object but a whole configuration: see embedded/apply.
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
    if media_type == JSON_PATCH:
        patched = apply_json_patch(obj, patch)
    elif not isinstance(patch, dict):
        raise errors.bad_request("the patch must be a JSON object")
    elif media_type == MERGE_PATCH:
        patched = apply_merge_patch(obj, patch)
    else:
        patched = apply_strategic_patch(obj, patch)
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise errors.bad_request("the patched object has no metadata")
    return patched
