"""Since when a taint without timeAdded counts, and what a node's annotation should say of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from bailiff.decisions.node_taints import TaintObservation
from bailiff.decisions.node_taints.observations import (
    Since,
    annotation,
    as_served,
    from_now,
    read,
    since,
    untimed,
    vouched,
)
from bailiff.kinds import Annotations, Node, Taint
from tests.harness.kinds import edited_at, no_execute, node_of

CAME = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW = CAME + timedelta(minutes=1)
TAINT = no_execute("a", "v")
IDENTITY = ("a", "v", "NoExecute")


def after(seconds: float) -> datetime:
    return CAME + timedelta(seconds=seconds)


def noting(at: datetime, edited: datetime | None = None, key: str = "a") -> dict[str, str]:
    note = {"key": key, "value": "v", "effect": "NoExecute", "time": at.isoformat()}
    return note | ({} if edited is None else {"edited": edited.isoformat()})


def node(
    *notes: dict[str, str], edited: datetime | None = None, made: datetime | None = None
) -> Node:
    """A node with one taint, these notes, and its last edit and creation as the API server says."""
    managed = () if edited is None else edited_at(edited)
    text = json.dumps(notes) if notes else ""
    annotations = Annotations(taints_first_observed=text)
    return node_of(
        "n", TAINT, annotations=annotations, managed_fields=managed, creation_timestamp=made
    )


def told(at: datetime) -> TaintObservation:
    return TaintObservation(key="a", value="v", effect="NoExecute", time=at)


@pytest.mark.parametrize(
    ("seen", "known", "expected"),
    [
        pytest.param(node(), (), from_now(NOW), id="nothing tells"),
        pytest.param(
            node(edited=after(3)),
            (),
            Since(after(4), "managedFields"),
            id="the last edit, which was within the second",
        ),
        pytest.param(
            node(noting(after(3.5), after(3)), edited=after(3)),
            (),
            Since(after(3.5), "firstObserved"),
            id="a note of the last edit",
        ),
        pytest.param(
            node(noting(after(3.5), after(3)), edited=after(9)),
            (),
            Since(after(10), "managedFields"),
            id="a note of an edit before the last",
        ),
        pytest.param(
            node(noting(after(3.5)), edited=after(9)),
            (),
            Since(after(10), "managedFields"),
            id="a note that names no edit",
        ),
        pytest.param(
            node(noting(after(3.5), after(3))),
            (),
            Since(after(3.5), "firstObserved"),
            id="managedFields were left out",
        ),
        pytest.param(
            node(noting(after(3.5), after(3), key="b"), edited=after(3)),
            (),
            Since(after(4), "managedFields"),
            id="a note of another taint",
        ),
        pytest.param(
            node(noting(after(3.5), after(3)), edited=after(3)),
            (told(after(20)),),
            Since(after(20), "firstObserved"),
            id="what the caller knows counts before the note",
        ),
        pytest.param(node(), (told(NOW),), Since(NOW, "firstObserved"), id="seen this moment"),
        pytest.param(
            node(),
            (told(NOW + timedelta(microseconds=1)),),
            Since(NOW, "firstObserved", is_known=False),
            id="what is to come counts from now",
        ),
        pytest.param(
            node(noting(datetime(2099, 1, 1, tzinfo=UTC), after(3)), edited=after(3)),
            (),
            Since(NOW, "firstObserved", is_known=False),
            id="a note dated 2099 counts from now",
        ),
        pytest.param(
            node(noting(after(-9e9), after(3)), edited=after(3), made=after(2)),
            (),
            Since(after(2), "firstObserved"),
            id="a note from before the node was made counts from then",
        ),
        pytest.param(
            node(noting(after(-9e9)), made=after(2)),
            (),
            Since(after(2), "firstObserved"),
            id="the same without managedFields",
        ),
        pytest.param(
            node(noting(after(3.5), after(3)), edited=after(3), made=after(2)),
            (),
            Since(after(3.5), "firstObserved"),
            id="a note from after the node was made",
        ),
        pytest.param(
            node(made=after(2)),
            (told(CAME),),
            Since(CAME, "firstObserved"),
            id="what the caller knows is not asked for the node's creation",
        ),
        pytest.param(
            node(edited=NOW),
            (),
            Since(NOW, "managedFields", is_known=False),
            id="an edit by a clock that is ahead counts from now",
        ),
    ],
)
def test_since_when_a_taint_counts(
    seen: Node, known: tuple[TaintObservation, ...], expected: Since
) -> None:
    assert since(seen, known, NOW) == {IDENTITY: expected}


def test_every_instant_is_told_in_utc() -> None:
    abroad = CAME.astimezone(timezone(timedelta(hours=5)))
    (found,) = since(node(), (told(abroad),), NOW).values()
    assert (found.at, found.at.tzinfo) == (CAME, UTC)


def test_a_taint_that_says_when_it_came_or_evicts_nobody_needs_no_note() -> None:
    dated, harmless = no_execute("dated", time_added=CAME), Taint(key="mild", effect="NoSchedule")
    assert untimed(node_of("n", dated, TAINT, harmless)) == {IDENTITY: TAINT}


def test_what_a_node_vouches_for_are_its_notes_of_the_last_edit() -> None:
    notes = noting(after(3.5), after(3)), noting(after(1.5), after(1), key="b")
    both = {IDENTITY, ("b", "v", "NoExecute")}
    assert set(vouched(node(*notes, edited=after(3)))) == {IDENTITY}
    assert set(vouched(node(*notes))) == both
    assert set(read(node(*notes, edited=after(3)))) == both


@pytest.mark.parametrize(
    ("seen", "believed"),
    [
        (node(noting(CAME), edited=CAME), True),
        (node(noting(CAME)), False),
        (node(edited=CAME), True),
        (node(), True),
    ],
)
def test_a_note_of_a_node_that_its_cluster_shows_without_managed_fields_is_not_believed(
    seen: Node, believed: bool
) -> None:
    served = as_served(seen)
    assert (served == seen) is believed
    assert believed or served.metadata.annotations.taints_first_observed == ""
    assert (served.metadata.name, served.spec) == (seen.metadata.name, seen.spec)


def known(at: datetime) -> dict[tuple[str, str, str], Since]:
    return {IDENTITY: Since(at, "firstObserved")}


@pytest.mark.parametrize("apart", [-0.999, 0.0, 0.999])
def test_a_note_within_a_second_of_what_is_known_stays(apart: float) -> None:
    noted = node(noting(after(3), after(3)), edited=after(3))
    assert annotation(noted, known(after(3 + apart))) is None


@pytest.mark.parametrize(
    "noted",
    [
        pytest.param(node(edited=after(3)), id="no note"),
        pytest.param(node(noting(after(2), after(3)), edited=after(3)), id="a second before"),
        pytest.param(node(noting(after(4), after(3)), edited=after(3)), id="a second after"),
        pytest.param(node(noting(after(3), after(1)), edited=after(3)), id="another edit"),
        pytest.param(node(noting(after(3)), edited=after(3)), id="no edit"),
        pytest.param(node(noting(after(3), after(3), "b"), edited=after(3)), id="another taint"),
        pytest.param(
            node(noting(after(3), after(3)), noting(after(3), after(3), "b"), edited=after(3)),
            id="a taint too many",
        ),
    ],
)
def test_a_note_that_says_something_else_is_written_anew(noted: Node) -> None:
    text = annotation(noted, known(after(3)))
    assert text is not None
    (entry,) = json.loads(text)
    assert entry["key"] == "a"
    annotations = Annotations(taints_first_observed=text)
    again = node_of("n", TAINT, annotations=annotations, managed_fields=edited_at(after(3)))
    assert vouched(again) == {IDENTITY: Since(after(3), "firstObserved")}
    assert annotation(again, known(after(3))) is None


def test_where_nothing_is_known_a_note_is_taken_away() -> None:
    assert annotation(node(noting(CAME)), {}) == ""
    assert annotation(node(), {}) is None


def test_a_note_of_a_newer_worker_is_read_as_far_as_it_is_known() -> None:
    """While workers are upgraded, one reads what another has written."""
    noted = node({**noting(NOW), "seenBy": "worker-1"})
    assert [key for key, _, _ in vouched(noted)] == ["a"]
