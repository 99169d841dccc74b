"""From the bytes of a policy file to `Policies`, or to a clear error."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import inspect as types

from bailiff.decisions.policies.checks import faults
from bailiff.decisions.policies.settings import CLOSES, OPENS, Policies
from bailiff.kinds import DecodeError, decode_yaml_value
from bailiff.kinds.names import LABEL_PATTERN, LABEL_RULE, SUBDOMAIN_PATTERN, SUBDOMAIN_RULE
from bailiff.kinds.type_paths import type_at
from bailiff.kinds.yaml_text import parse_yaml

API_VERSION = "bailiff.dev/v1"
KIND = "WorkerPolicies"
MAX_BYTES = 256 * 1024
_MAX_PATH = 300
_MAX_REASON = 1000
_HOUR = "must be HH:MM, as 06:00 or 22:30"
# What a pattern asks for, in words.
_RULES = {
    OPENS: _HOUR,
    CLOSES: _HOUR,
    LABEL_PATTERN: LABEL_RULE,
    SUBDOMAIN_PATTERN: SUBDOMAIN_RULE,
}


class PolicyError(ValueError):
    """A policy file that cannot be used.

    Attributes:
        path: the field at fault, as `$.limits.total.perSecond`; `$` for the whole.
        reason: what is wrong and what is allowed.
    """

    def __init__(self, path: str, reason: str) -> None:
        # Both may quote the file, which may be anything.
        path, reason = path[:_MAX_PATH], reason[:_MAX_REASON]
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class WorkerPolicies(Policies, frozen=True, kw_only=True):
    """The policies of a worker; those that are absent are off."""

    api_version: Literal["bailiff.dev/v1"]
    kind: Literal["WorkerPolicies"]


def read(text: bytes) -> Policies:
    """The policies that a file asks for.

    It takes 5 to 15 us a byte, so seconds for the largest: not for an event loop.

    Args:
        text: YAML or JSON in UTF-8, at most 256 KiB.

    Raises:
        PolicyError: too large, no YAML, unknown fields, wrong types, or values that contradict
            each other.
    """
    try:
        policies = decode_yaml_value(_body(text), Policies)
    except DecodeError as error:
        raise _explained(error) from error
    for path, reason in faults(policies):
        raise PolicyError(path, reason)
    return policies


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a file: types and bounds, not what `read` checks besides."""
    made = msgspec.json.schema(WorkerPolicies)
    for kind in made["$defs"].values():
        # Of a docstring only what stands before the names that Python has.
        kind["description"] = kind["description"].split("\n\n    Attributes:")[0]
    return made


def _body(text: bytes) -> object:
    """The file's fields without those that say what it is."""
    if len(text) > MAX_BYTES:
        raise PolicyError("$", f"{len(text)} bytes, at most {MAX_BYTES} are allowed")
    value = parse_yaml(text)
    if not isinstance(value, dict):
        raise PolicyError("$", f"must be an object with apiVersion: {API_VERSION}, kind: {KIND}")
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if value.get(field) != wanted:
            found = f"got {str(value[field])[:100]!r}" if field in value else "and missing"
            raise PolicyError(f"$.{field}", f"required to be {wanted}, {found}")
    return {key: item for key, item in value.items() if key not in ("apiVersion", "kind")}


def _explained(error: DecodeError) -> PolicyError:
    """The decoder's words, with what is allowed where it does not say so."""
    kind = type_at(Policies, error.path)
    # A null counts as nothing said: where something is required it does not do.
    reason = error.reason.replace(" | null`", "`")
    if isinstance(kind, types.EnumType) and "must be one of" not in reason:
        allowed = ", ".join(member.value for member in kind.cls)
        return PolicyError(error.path, f"{reason}, allowed are {allowed}")
    rule = _RULES.get(kind.pattern or "") if isinstance(kind, types.StrType) else None
    if rule is not None and "matching regex" in reason:
        return PolicyError(error.path, rule)
    return PolicyError(error.path, reason)
