"""Lines become events, initial events become one whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster import Changed, Deleted, ExpiredError, Replaced, ResponseError, ServerError
from bailiff.cluster.watch_events import Bookmark, InitialEvents, ObjectEvent, decode_event
from bailiff.kinds import Pod
from tests.harness.kinds import pod_of


def line(event: str, /, **obj: Any) -> bytes:
    return json.dumps({"type": event, "object": obj}).encode()


def decode(data: bytes) -> ObjectEvent[Pod] | Bookmark:
    return decode_event(data, Pod, lambda pod: pod)


@pytest.mark.parametrize(
    ("kind", "event"), [("ADDED", Changed), ("MODIFIED", Changed), ("DELETED", Deleted)]
)
def test_events_carry_the_object(kind: str, event: type) -> None:
    seen = decode(line(kind, metadata={"name": "a", "labels": None}, status={"phase": "Running"}))
    assert type(seen) is event
    assert isinstance(seen, Changed | Deleted)
    assert (seen.object.metadata.name, seen.object.status.phase) == ("a", "Running")


@pytest.mark.parametrize(
    ("annotations", "ends"),
    [({}, False), (None, False), ({"k8s.io/initial-events-end": "true"}, True)],
)
def test_bookmarks_say_how_far_and_whether_the_beginning_is_over(
    annotations: dict[str, str] | None, ends: bool
) -> None:
    metadata = {"resourceVersion": "7", "annotations": annotations}
    assert decode(line("BOOKMARK", metadata=metadata)) == Bookmark("7", ends_initial_events=ends)


@pytest.mark.parametrize(
    ("code", "error"), [(410, ExpiredError), (500, ServerError), (None, ServerError)]
)
def test_an_error_event_is_raised(code: int | None, error: type[Exception]) -> None:
    with pytest.raises(error, match="too old"):
        decode(line("ERROR", kind="Status", message="too old", code=code))


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"type":"ADDED"}',
        b'{"type":"SURPRISE","object":{}}',
        b'{"type":"ADDED","object":[]}',
        b'{"type":"ADDED","object":{"spec":{"nodeName":1}}}',
        b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":1}}}',
        b'{"type":"ERROR","object":7}',
    ],
)
def test_what_is_no_event_is_refused(data: bytes) -> None:
    with pytest.raises(ResponseError):
        decode(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_an_event_or_refused(data: bytes) -> None:
    with pytest.raises(ResponseError):
        decode(data)


def versioned(name: str, version: int) -> Pod:
    return pod_of(name, resource_version=str(version))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())))
def test_initial_events_end_in_what_is_there(steps: list[tuple[str, bool]]) -> None:
    initial: InitialEvents[Pod] = InitialEvents()
    model: dict[str, Pod] = {}
    for version, (name, there) in enumerate(steps):
        model.pop(name, None)
        if there:
            model[name] = versioned(name, version)
        seen = versioned(name, version)
        assert initial.take(Changed(seen) if there else Deleted(seen)) is None
    assert initial.take(Bookmark("8")) is None
    whole = initial.take(Bookmark("9", ends_initial_events=True))
    assert isinstance(whole, Replaced)
    assert whole.resource_version == "9"
    assert {p.metadata.name: p for p in whole.items} == model


@pytest.mark.parametrize(("kind", "left"), [("ADDED", ["a"]), ("MODIFIED", ["a"]), ("DELETED", [])])
def test_of_the_initial_events_the_last_word_on_what_was_unreadable_counts(
    kind: str, left: list[str]
) -> None:
    initial: InitialEvents[Pod] = InitialEvents()
    bad = {"name": "a", "resourceVersion": "1", "creationTimestamp": "0000-01-01T00:00:00Z"}
    for data in (line("ADDED", metadata=bad), line(kind, metadata={"name": "a"})):
        event = decode(data)
        assert initial.take(event) is None
    whole = initial.take(Bookmark("9", ends_initial_events=True))
    assert whole is not None
    assert [one.metadata.name for one in whole.items] == left
    assert whole.unreadable == ()
