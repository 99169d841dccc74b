"""The three patch languages that the server takes."""

from bailiff.embedded.patches.apply import APPLY_TYPES, PATCH_TYPES, apply_patch

__all__ = ["APPLY_TYPES", "PATCH_TYPES", "apply_patch"]
