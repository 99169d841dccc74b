"""What may be the key and the value of a label (apimachinery pkg/util/validation)."""

from __future__ import annotations

import re

_MAX_NAME = 63
_MAX_PREFIX = 253
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")

KEY_RULE = (
    "must be NAME or PREFIX/NAME: the name at most 63 letters, digits, '-', '_', '.', with a "
    "letter or digit at both ends, the prefix a DNS name"
)
VALUE_RULE = (
    "must be empty, or at most 63 letters, digits, '-', '_', '.', with a letter or digit at both "
    "ends"
)


def is_label_key(text: str) -> bool:
    """Whether a label may have this key (IsQualifiedName)."""
    prefix, slash, name = text.rpartition("/")
    if slash and (len(prefix) > _MAX_PREFIX or not _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(name) <= _MAX_NAME and _NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether a label may have this value (IsValidLabelValue)."""
    return not text or (len(text) <= _MAX_NAME and _NAME.fullmatch(text) is not None)
