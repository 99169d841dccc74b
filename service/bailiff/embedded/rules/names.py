"""Forms of names and labels (apimachinery/pkg/util/validation)."""

from __future__ import annotations

import re

from bailiff.embedded.errors import Cause

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"

_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    rf"for validation is '{_LABEL}(\.{_LABEL})*')"
)
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
    f"used for validation is '{_LABEL}')"
)
_QUALIFIED_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    f" or '12345', regex used for validation is '({_QUALIFIED})?')"
)


def subdomain(name: str) -> str:
    """What is wrong with a DNS subdomain; empty for nothing."""
    if len(name) > 253:
        return "must be no more than 253 bytes"
    return "" if re.fullmatch(_SUBDOMAIN, name) else _SUBDOMAIN_TEXT


def label(name: str) -> str:
    """What is wrong with a DNS label."""
    if len(name) > 63:
        return "must be no more than 63 bytes"
    return "" if re.fullmatch(_LABEL, name) else _LABEL_TEXT


def qualified_name(name: str) -> str:
    """What is wrong with the key of a label, taint or toleration."""
    prefix, slash, last = name.rpartition("/")
    if slash and not prefix:
        return "prefix part must be non-empty"
    if slash and (wrong := subdomain(prefix)):
        return f"prefix part {wrong}"
    if not last:
        return "name part must be non-empty"
    if len(last) > 63:
        return "name part must be no more than 63 bytes"
    return "" if re.fullmatch(_QUALIFIED, last) else _QUALIFIED_TEXT


def label_value(value: str) -> str:
    """What is wrong with the value of a label, taint or toleration."""
    if len(value) > 63:
        return "must be no more than 63 bytes"
    return "" if re.fullmatch(_VALUE, value) else _VALUE_TEXT


def check_key(field: str, key: str) -> list[Cause]:
    """Causes against a qualified name."""
    wrong = qualified_name(key)
    return [Cause.invalid(field, key, wrong)] if wrong else []


def check_labels(field: str, labels: dict[str, str]) -> list[Cause]:
    """Causes against labels."""
    causes = []
    for key, value in labels.items():
        causes += check_key(field, key)
        if wrong := label_value(value):
            causes.append(Cause.invalid(field, value, wrong))
    return causes
