"""The three patch languages that the server takes."""

from bailiff.embedded.patches.apply import APPLY, PATCH_TYPES, apply_patch

__all__ = ["APPLY", "PATCH_TYPES", "apply_patch"]
