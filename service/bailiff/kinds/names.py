"""What may be a name, and the key and the value of a label (apimachinery pkg/util/validation)."""

from __future__ import annotations

import re

MAX_LABEL = 63
MAX_SUBDOMAIN = 253
# A prefix that is a DNS name, a slash, and a name.
MAX_QUALIFIED_NAME = MAX_SUBDOMAIN + 1 + MAX_LABEL
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DNS_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
# RFC 1123 as schemas and types have it: beside these the lengths.
LABEL_PATTERN = f"^{_DNS_LABEL}$"
SUBDOMAIN_PATTERN = f"^{_DNS_SUBDOMAIN}$"
_LABEL = re.compile(_DNS_LABEL)
_SUBDOMAIN = re.compile(_DNS_SUBDOMAIN)
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")

LABEL_RULE = (
    "must be an RFC 1123 label: at most 63 lower-case letters, digits, '-', with a letter or "
    "digit at both ends"
)
SUBDOMAIN_RULE = (
    "must be an RFC 1123 subdomain: at most 253 lower-case letters, digits, '-', '.', with a "
    "letter or digit at both ends"
)
KEY_RULE = (
    "must be NAME or PREFIX/NAME: the name at most 63 letters, digits, '-', '_', '.', with a "
    "letter or digit at both ends, the prefix a DNS name"
)
VALUE_RULE = (
    "must be empty, or at most 63 letters, digits, '-', '_', '.', with a letter or digit at both "
    "ends"
)


def is_dns_label(text: str) -> bool:
    """Whether a namespace may have this name (IsDNS1123Label)."""
    return len(text) <= MAX_LABEL and _LABEL.fullmatch(text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Whether most objects may have this name (IsDNS1123Subdomain)."""
    return len(text) <= MAX_SUBDOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def is_label_key(text: str) -> bool:
    """Whether a label, a taint or a condition may have this key (IsQualifiedName)."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_dns_subdomain(prefix):
        return False
    return len(name) <= MAX_LABEL and _NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether a label may have this value (IsValidLabelValue)."""
    return not text or (len(text) <= MAX_LABEL and _NAME.fullmatch(text) is not None)
