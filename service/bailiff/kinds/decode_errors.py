"""What is said of input that is not what it should be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import inspect as types

from bailiff.kinds.map_keys import ANY_KEY, find_value
from bailiff.kinds.quantity import MUST_BE, PATTERN
from bailiff.kinds.type_paths import TypeForm, type_at

if TYPE_CHECKING:
    import msgspec

    from bailiff.kinds.map_keys import Fits

# How deep a body may nest before it is refused. Kubernetes' own objects stay below 30.
MAX_DEPTH = 100
# Of a text that an error quotes.
_MAX_QUOTED = 100

_PLACE = re.compile(r"^(?P<reason>.*) - at (?:`key` in )?`(?P<path>\$[^`]*)`$", re.DOTALL)

_MISSING = re.compile(r"Object missing required field `(\w+)`")

_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)

_NOT_IN_ENUM = re.compile(r"Invalid enum value ('.*'|\d+)", re.DOTALL)

_INVALID = re.compile(r"Invalid value '(.*)'", re.DOTALL)


class DecodeError(ValueError):
    """The input is not what it should be.

    Attributes:
        path: where, as `$.pod.spec.tolerations[0].tolerationSeconds`; `$` for the whole.
        reason: what was found and what is allowed.
        malformed: True if the input is no JSON at all.
    """

    def __init__(self, reason: str, path: str = "$", *, malformed: bool = False) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason
        self.path = path
        self.malformed = malformed


class DepthError(DecodeError):
    """The input nests deeper than the decoder can follow."""

    def __init__(self, *, malformed: bool = False) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels", malformed=malformed)


def from_validation(error: msgspec.ValidationError, kind: TypeForm) -> DecodeError:
    """The decoder's error with what is allowed, where it does not say so.

    Args:
        error: as the decoder raises it.
        kind: the type of the whole.
    """
    # What reads whole numbers takes 5.0 for one, which is not what its message is to say.
    text = str(error).replace("int | float", "int")
    place = _PLACE.match(text)
    reason, path = (place["reason"], place["path"]) if place else (text, "$")
    missing = _MISSING.fullmatch(reason)
    if missing is not None:
        return DecodeError("required, and missing or null", f"{path}.{missing[1]}")
    unknown = _UNKNOWN.fullmatch(reason)
    if unknown is not None:
        return unknown_field(kind, path, unknown[1])
    invalid = _INVALID.fullmatch(reason)
    if invalid is not None:
        return _wrong_kind(kind, path, invalid[1])
    strange = _NOT_IN_ENUM.fullmatch(reason)
    if strange is not None:
        return _not_in_enum(kind, path, strange[1])
    return DecodeError(MUST_BE if repr(PATTERN) in reason else reason, path)


def with_keys(error: DecodeError, whole: object, kind: TypeForm, fits: Fits) -> DecodeError:
    """The same with the key of the map that it is about; arguments as of `find_value`."""
    if ANY_KEY not in error.path:
        return error
    path, value = find_value(error.path, whole, kind, fits)
    reason = error.reason
    if isinstance(value, str) and reason == MUST_BE:
        reason += f", is {value[:_MAX_QUOTED]!r}"
    return DecodeError(reason, path)


def unknown_field(kind: TypeForm, path: str, name: str) -> DecodeError:
    """What is allowed where an object of ours has a field that it should not have.

    Args:
        kind: the type of the whole.
        path: of the object in it.
        name: of the field.
    """
    owner = type_at(kind, path)
    fields = owner.fields if isinstance(owner, types.StructType) else ()
    allowed = ", ".join(field.encode_name for field in fields)
    return DecodeError(f"unknown field, allowed are {allowed}", f"{path}.{name[:_MAX_QUOTED]}")


def _not_in_enum(kind: TypeForm, path: str, found: str) -> DecodeError:
    """What is allowed where a word has to be one of several."""
    owner, quoted = type_at(kind, path), found[:_MAX_QUOTED]
    if isinstance(owner, types.EnumType):
        allowed = ", ".join(str(one.value) for one in owner.cls)
    elif isinstance(owner, types.LiteralType):
        allowed = ", ".join(map(str, owner.values))
    else:
        return DecodeError(f"Invalid enum value {quoted}", path)
    return DecodeError(f"must be one of {allowed}, got {quoted}", path)


def _wrong_kind(kind: TypeForm, path: str, found: str) -> DecodeError:
    """What is allowed where an object says that it is of another kind."""
    owner = type_at(kind, path.rpartition(".")[0])
    quoted = found[:_MAX_QUOTED]
    if not isinstance(owner, types.StructType):
        return DecodeError(f"Invalid value '{quoted}'", path)
    return DecodeError(f"expected {owner.tag}, got {quoted}", path)
