"""What repeats is converted once, and what does not costs no memory."""

from __future__ import annotations

import pytest

from bailiff.grpc_api.errors import FieldError
from bailiff.grpc_api.wire import Interned


def test_the_same_bytes_are_converted_once() -> None:
    seen: list[bytes] = []

    def convert(data: bytes) -> list[bytes]:
        seen.append(data)
        return [data]

    read = Interned(convert)
    assert read(b"a") is read(b"a") is read.known(b"a")
    assert seen == [b"a"]


def test_it_stays_small_whatever_comes() -> None:
    read = Interned(len)
    for number in range(3 * Interned.MAX_ENTRIES):
        read(number.to_bytes(4, "big"))
    assert len(read._values) <= Interned.MAX_ENTRIES
    assert read((1).to_bytes(4, "big")) == 4


@pytest.mark.parametrize(("size", "kept"), [(Interned.MAX_BYTES, True), (10_000, False)])
def test_only_what_is_short_is_kept(size: int, kept: bool) -> None:
    read = Interned(len)
    assert read(bytes(size)) == size
    assert (read.known(bytes(size)) is not None) is kept


def test_what_cannot_be_converted_is_not_kept() -> None:
    def fail(_: bytes) -> None:
        raise FieldError("no")

    read = Interned(fail)
    for _ in range(2):
        with pytest.raises(FieldError):
            read(b"a")
    assert not read._values
