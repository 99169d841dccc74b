"""From what the API server sends to values, however deep it nests."""

from __future__ import annotations

from typing import TypeVar

from bailiff import kinds

T = TypeVar("T")


def decode_answer(body: bytes, kind: type[T]) -> T:
    """As kinds.decode_served; but what nests too deep is left out instead of being refused.

    What a caller of our own sends is refused, because nothing of it may be left out unsaid. What
    the API server keeps has to be read: one deep field that no rule reads must not hide an object,
    nor the page or the watch that it comes in.

    Args:
        body: UTF-8 JSON of any depth.
        kind: the type to fill.

    Raises:
        DecodeError: malformed JSON, or a wrong type.
    """
    try:
        return kinds.decode_served(body, kind)
    except kinds.DepthError:
        return kinds.decode_served(kinds.without_depths(body, kinds.MAX_DEPTH), kind)
