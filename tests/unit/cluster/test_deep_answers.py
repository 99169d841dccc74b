"""The API server keeps objects that nest deeper than Python can follow: the rest of them is read.

Go's JSON takes 10,000 levels.
"""

from __future__ import annotations

import json
from enum import StrEnum

import msgspec
import pytest

from bailiff.cluster import (
    NODES,
    PODS,
    Changed,
    ClusterSettings,
    Deleted,
    Request,
    Selection,
    errors,
)
from bailiff.cluster.listing import decode_page
from bailiff.cluster.lists import Lists
from bailiff.cluster.status import error_of, refusal_of
from bailiff.cluster.unreadable import Unreadable, decode_object
from bailiff.cluster.watch_events import decode_event
from bailiff.kinds import ObjectMeta, Pod

# Within what one decoder still follows, around where it gives up, and the most that Go takes.
DEPTHS = [150, *range(960, 1000, 3), 1500, 9_990]


def deep(depth: int) -> bytes:
    return b'{"f:a":' * depth + b"{}" + b"}" * depth


def pod(name: bytes, depth: int, more: bytes = b"") -> bytes:
    """A pod whose managedFields are deep, with a null, which is read in a way of its own."""
    fields = b'[{"manager":"x","time":null,"fieldsV1":%s}]' % deep(depth)
    meta = b'{"name":"%s","resourceVersion":"5","managedFields":%s}' % (name, fields)
    return b'{"metadata":%s,"spec":{"nodeName":"n"}%s}' % (meta, more)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("kind", "event"), [("ADDED", Changed), ("DELETED", Deleted)])
def test_a_watch_reads_them(depth: int, kind: str, event: type) -> None:
    line = b'{"type":"%s","object":%s}' % (kind.encode(), pod(b"a", depth))
    seen = decode_event(line, Pod, lambda one: one)
    assert isinstance(seen, event)
    assert isinstance(seen, Changed | Deleted)
    assert (seen.object.metadata.name, seen.object.spec.node_name) == ("a", "n")


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_cannot_be_read_all_the_same_is_told_of(depth: int) -> None:
    bad = pod(b"a", depth, b',"status":{"phase":%s}' % deep(depth))
    line = b'{"type":"ADDED","object":%s}' % bad
    seen = decode_event(line, Pod, lambda one: one)
    assert isinstance(seen, Unreadable)
    assert (seen.metadata.name, seen.metadata.resource_version) == ("a", "5")


@pytest.mark.parametrize("depth", DEPTHS)
def test_one_of_them_does_not_spoil_its_page(depth: int) -> None:
    items = b",".join([pod(b"a", 1), pod(b"b", depth), pod(b"c", 1)])
    page = decode_page(b'{"metadata":{"resourceVersion":"7"},"items":[%s]}' % items, Pod)
    assert [one.metadata.name for one in page.items] == ["a", "b", "c"]
    assert page.metadata.resource_version == "7"
    assert not page.unreadable


class Answering(Lists):
    """A server that has one answer."""

    def __init__(self, body: bytes) -> None:
        super().__init__(ClusterSettings())
        self._body = body
        self._asked = 0

    async def send(self, request: Request, within: float | None = None) -> bytes:
        self._asked += 1
        assert self._asked < 9
        return self._body


@pytest.mark.parametrize("depth", DEPTHS)
async def test_nor_the_probe_for_a_version(depth: int) -> None:
    body = b'{"metadata":{"resourceVersion":"7"},"items":[%s]}' % pod(b"a", depth)
    assert await Answering(body).current_version(PODS, Selection()) == "7"


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_refusal_that_is_deep_is_an_error_of_the_cluster(depth: int) -> None:
    body = b'{"message":"no","details":{"causes":%s}}' % deep(depth)
    assert type(error_of("GET /x", 404, body)) is errors.NotFoundError
    assert refusal_of("POST /x", body) is None
    with pytest.raises(errors.ClusterError):
        decode_event(b'{"type":"ERROR","object":%s}' % body, Pod, lambda one: one)


class Word(StrEnum):
    LONG = "a" * 600


class Choice(msgspec.Struct):
    """Whose error says what is allowed."""

    metadata: ObjectMeta
    one: Word


def test_the_reason_is_bounded() -> None:
    meta = {"name": "a", "resourceVersion": "5"}
    found = decode_object(json.dumps({"metadata": meta, "one": "b"}).encode(), Choice)
    assert isinstance(found, Unreadable)
    assert len(found.reason) == 500


async def test_a_token_that_is_answered_by_itself_is_no_end() -> None:
    """The list has more, and to ask for it would go round for ever."""
    page = b'{"metadata":{"resourceVersion":"7","continue":"t"},"items":[]}'
    with pytest.raises(errors.ResponseError, match="continue"):
        await Answering(page).list(NODES)
