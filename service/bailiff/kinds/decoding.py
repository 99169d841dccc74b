"""From JSON bytes to values, and one kind of error when that cannot be done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec

from bailiff.kinds.decode_errors import DecodeError, DepthError, from_validation, with_keys
from bailiff.kinds.lenient import Lenient, lenient
from bailiff.kinds.map_keys import ANY_KEY
from bailiff.kinds.times import may_hide_times, with_cut_times
from bailiff.kinds.type_paths import TypeForm

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Bytes of objects that a byte of JSON comes to, measured: 1.9 for 12,000 whole pods, 4.0 for 15,000
# slim ones.
OBJECTS_OF_JSON = 4
# Bytes in which a key is looked for that an error is about: a few milliseconds at worst. Longer
# questions are read in parts, and so are their errors.
_MAX_SEARCHED = 256 * 1024


def decode(data: bytes, kind: type[T]) -> T:
    """Decode one JSON value.

    Where Go's JSON takes null or 5.0, so does this; a fraction of a second is cut to microseconds;
    fields that the type has not are skipped, whatever they hold.

    Args:
        data: UTF-8 JSON.
        kind: the type to fill.

    Raises:
        DecodeError: malformed JSON, or a wrong type.
        DepthError: too deep for the decoder.
    """
    data = with_cut_times(data)
    if may_hide_times(data):
        # What is written anew on the slow way escapes no more than it has to.
        return _decode_leniently(data, kind)
    return decode_served(data, kind)


def decode_served(data: bytes, kind: type[T]) -> T:
    """As `decode`, for what the API server wrote: its times are never finer than microseconds.

    metav1.Time has whole seconds and metav1.MicroTime six digits (MarshalJSON in
    k8s.io/apimachinery/pkg/apis/meta/v1/time.go and micro_time.go), so nothing is looked for.
    """
    try:
        return _WAYS[kind].decode(data)  # type: ignore[no-any-return]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Either the input is wrong, or it writes something right in another way, such as a null
        # where Go's JSON would have skipped it: the slow path tells. Only those callers pay.
        return _decode_leniently(data, kind)


def decode_yaml_value(value: object, kind: type[T]) -> T:
    """Fill a type from what a YAML or JSON parser returned; null and times as in `decode`.

    Raises:
        DecodeError: a wrong type.
        DepthError: too deep for the decoder.
    """
    try:
        return _converted(value, kind)
    except msgspec.ValidationError as error:
        raise with_keys(from_validation(error, kind), value, kind, _fits) from error
    except RecursionError as error:
        raise DepthError from error
    except UnicodeEncodeError as error:
        raise DecodeError("holds half of a surrogate pair, which is no character") from error


def is_larger(data: bytes, marks: int) -> bool:
    """Whether JSON may hold more values than some number, told before it is decoded.

    The marks `{`, `[` and `,` are counted: every value but the first has one before it. Those
    within texts count too. It takes a nanosecond a byte at worst, and nothing for a body that has
    no more bytes than marks.
    """
    if len(data) <= marks:
        return False
    return data.count(b",") + data.count(b"{") + data.count(b"[") > marks


def check_size(data: bytes, marks: int) -> None:
    """Refuse JSON that may hold more values than can be decoded in time, see `is_larger`.

    Raises:
        DecodeError: as said.
    """
    if is_larger(data, marks):
        raise DecodeError(
            f"too many values: at most {marks} of '{{', '[' and ',' are allowed, "
            "of which texts count too"
        )


class _Way(NamedTuple):
    decode: Callable[[bytes], Any]
    lenient: Lenient
    decode_lenient: Callable[[bytes], Any]


class _Ways(dict[TypeForm, _Way]):
    """How each type is decoded, made when it is first asked for; as many as there are types."""

    def __missing__(self, kind: TypeForm) -> _Way:
        made = lenient(kind)
        decoder, gentle = msgspec.json.Decoder(kind), msgspec.json.Decoder(made.type)
        self[kind] = way = _Way(decoder.decode, made, gentle.decode)
        return way


_WAYS = _Ways()
# Reads JSON to its end, and makes nothing of it.
_skip = msgspec.json.Decoder(msgspec.Raw).decode


def _decode_leniently(data: bytes, kind: type[T]) -> T:
    try:
        return _fill(_WAYS[kind].decode_lenient(data), kind)
    except msgspec.ValidationError as error:
        check_form(data)
        raise _told(error, data, kind) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        check_form(data)
        raise DecodeError(str(error), malformed=True) from error
    except RecursionError as error:
        raise DepthError(malformed=True) from error


def check_form(data: bytes) -> None:
    """Tell what is no JSON from what says something wrong, whichever comes first in the text.

    However a text is read, what makes it no JSON is told in the same words.

    Raises:
        DecodeError: it is none.
    """
    try:
        _skip(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DecodeError(str(error), malformed=True) from error
    except RecursionError as error:
        raise DepthError(malformed=True) from error


def _told(error: msgspec.ValidationError, data: bytes, kind: TypeForm) -> DecodeError:
    # Not where it is raised: an error that a local variable of its own frame holds is freed by the
    # garbage collector alone.
    found = from_validation(error, kind)
    if ANY_KEY not in found.path or len(data) > _MAX_SEARCHED:
        return found
    try:
        return with_keys(found, msgspec.json.decode(data), kind, _fits)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # What nobody has asked for may be wrong in ways of its own: the key stays untold.
        return found


def _fill(value: object, kind: type[T]) -> T:
    """From the lenient type to the one that rules read."""
    way = _WAYS[kind]
    if way.lenient.fill is not None:
        value = way.lenient.fill(value)
    try:
        return cast("T", _again(value, way))
    except msgspec.ValidationError as error:
        if way.lenient.round is None or not _FLOAT_FOR_INT.match(str(error)):
            raise
    return cast("T", _again(way.lenient.round(value), way))


def _converted(value: object, kind: type[T]) -> T:
    return _fill(msgspec.convert(value, _WAYS[kind].lenient.type), kind)


def _fits(value: object, kind: TypeForm) -> bool:
    try:
        _converted(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):
        return False
    return True


def _again(value: object, way: _Way) -> object:
    return way.decode(with_cut_times(msgspec.json.encode(value)))


_FLOAT_FOR_INT = re.compile(r"Expected `int( \| null)?`, got `float`")
