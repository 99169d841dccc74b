"""Bodies that come in pieces."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from bailiff.decisions import Size
from bailiff.rest_api import RestSettings
from bailiff.rest_api.bodies import Bodies
from bailiff.rest_api.problems import Refusal

END = {"type": "http.disconnect"}
LIMIT = RestSettings().max_batch_body_bytes


class Sent:
    """Pieces, each when it is asked for."""

    def __init__(self, pieces: Sequence[bytes], *, ends: bool = True) -> None:
        self._left = list(pieces)
        self._ends = ends

    async def receive(self) -> dict[str, Any]:
        if not self._left:
            return END
        piece = self._left.pop(0)
        return {
            "type": "http.request",
            "body": piece,
            "more_body": bool(self._left or not self._ends),
        }


async def read(sent: Sent) -> bytes:
    return await Bodies(RestSettings()).read(Size.MANY, {}, sent.receive)


@pytest.mark.parametrize(
    "pieces",
    [
        [b""],
        [b"a"],
        [b"a", b"b", b""],
        [b"a" * 64 * 1024, b"b", b"c" * 200_000, b"", b"d" * 70_000, b"e"],
        [bytes([number % 256]) * 1000 for number in range(1000)],
        [b"a" * (LIMIT - 1), b"b"],
    ],
    ids=["none", "one", "three", "of all lengths", "many", "the longest"],
)
async def test_pieces_are_one_body(pieces: list[bytes]) -> None:
    assert await read(Sent(pieces)) == b"".join(pieces)


async def test_no_more_is_read_than_shows_that_it_is_too_long() -> None:
    sent = Sent([b"a" * LIMIT, b"b", b"c"])
    with pytest.raises(Refusal):
        await read(sent)
    assert (await sent.receive())["body"] == b"c"


async def test_who_hangs_up_is_not_answered() -> None:
    with pytest.raises(ClientDisconnect):
        await read(Sent([b"a", b"b"], ends=False))


async def test_many_short_pieces_take_little_more_than_their_bytes() -> None:
    sent, number = Sent([b"%d" % (n % 1000) for n in range(100_000)]), 290_000
    tracemalloc.start()
    try:
        body = await read(sent)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(body) <= number
    assert most < 3 * number
