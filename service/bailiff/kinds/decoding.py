"""From JSON bytes to values, and one kind of error when that cannot be done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# How deep a body may nest before it is refused. Kubernetes' own objects stay below 30.
MAX_DEPTH = 100


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
    """The input nests deeper than MAX_DEPTH levels."""

    def __init__(self, *, malformed: bool = False) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels", malformed=malformed)


def decode(data: bytes, kind: type[T]) -> T:
    """Decode one JSON value.

    Args:
        data: UTF-8 JSON.
        kind: the type to fill.

    Raises:
        DecodeError: malformed JSON, or a wrong type.
        DepthError: too deep for the decoder, or deeper than MAX_DEPTH.
    """
    try:
        return _decoder(kind)(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Either the input is wrong, or it writes something right in another way, such as a null
        # where Go's JSON would have skipped it: the slow path tells. Only those callers pay.
        return _decode_leniently(data, kind)


def decode_yaml_value(value: object, kind: type[T]) -> T:
    """Fill a type from what a YAML or JSON parser returned.

    Raises:
        DecodeError: a wrong type, or deeper than MAX_DEPTH.
    """
    try:
        return msgspec.convert(_plain(value), kind)
    except msgspec.ValidationError as error:
        raise _from_validation(error) from error


def _decode_leniently(data: bytes, kind: type[T]) -> T:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DecodeError(str(error), malformed=True) from error
    except RecursionError as error:
        raise DepthError(malformed=True) from error
    return decode_yaml_value(value, kind)


def _plain(value: object, depth: int = 0) -> object:
    """Without nulls, and with `5.0` as 5: to JSON those are one number, and one integer."""
    if depth > MAX_DEPTH:
        raise DepthError
    if isinstance(value, dict):
        return {k: _plain(v, depth + 1) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        # A null in a list is an item: Go decodes it to the zero value, we to an empty object.
        return [{} if item is None else _plain(item, depth + 1) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_PLACE = re.compile(r"^(?P<reason>.*) - at (?:`key` in )?`(?P<path>\$[^`]*)`$", re.DOTALL)

_MISSING = re.compile(r"Object missing required field `(\w+)`")


def _from_validation(error: msgspec.ValidationError) -> DecodeError:
    text = str(error)
    place = _PLACE.match(text)
    reason, path = (place["reason"], place["path"]) if place else (text, "$")
    missing = _MISSING.fullmatch(reason)
    if missing is not None:
        return DecodeError("required, and missing or null", f"{path}.{missing[1]}")
    return DecodeError(reason, path)


_DECODERS: dict[object, Callable[[bytes], Any]] = {}


def _decoder(kind: type[T]) -> Callable[[bytes], T]:
    found = _DECODERS.get(kind)
    if found is None:
        found = _DECODERS[kind] = msgspec.json.Decoder(kind).decode
    return found
