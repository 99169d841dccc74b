"""Never early: whatever becomes of taints, notes and workers, no taint counts before it came."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count

import hypothesis.strategies as st
from hypothesis import given
from msgspec.structs import replace

from bailiff.cluster import Changed, Replaced
from bailiff.decisions.node_taints import observations
from bailiff.kinds import Annotations, Node, NodeMeta, NodeSpec
from bailiff.worker.mirror.mirror import Mirror
from bailiff.worker.systems.node_taints.first_seen import FirstSeen
from tests.harness.clocks import ManualClock
from tests.harness.kinds import edited_at, no_execute
from tests.harness.turns import straight_through

SECOND = timedelta(seconds=1)
KEYS = ("a", "b")


class Server:
    """One node as the API server has it, and the truth about its taints.

    Attributes:
        came: when each taint that there is came, by identity.
    """

    def __init__(self, clock: ManualClock, *, managed: bool) -> None:
        """A node.

        Args:
            clock: the server's too.
            managed: whether managedFields are kept from the beginning; else it was made with
                nothing that can be owned, and they are kept while it carries a note: that is
                applied, see `ClusterActions.annotate`.
        """
        self._clock = clock
        self._managed = managed
        self._versions = count(1)
        self.came: dict[observations.Identity, datetime] = {}
        self.node = Node(metadata=NodeMeta(name="n", uid="1", resource_version="0"))

    def toggle(self, key: str) -> None:
        """Taint the node, or take the taint away."""
        taint = no_execute(key)
        identity = observations.identity_of(taint)
        if self.came.pop(identity, None) is None:
            self.came[identity] = self._clock.now()
        taints = tuple(no_execute(one) for one, _, _ in self.came)
        self._put(replace(self.node, spec=NodeSpec(taints=taints)), edited=True)

    def touch(self) -> None:
        """Whoever owns the taints edits something else."""
        self._put(self.node, edited=True)

    def annotate(self, node: Node, text: str) -> None:
        """Only on this version, as the API server has it."""
        if node.metadata.resource_version == self.node.metadata.resource_version:
            annotations = Annotations(taints_first_observed=text)
            metadata = replace(self.node.metadata, annotations=annotations)
            first = not self._keeps_managed_fields
            self._put(replace(self.node, metadata=metadata), edited=first)

    @property
    def _keeps_managed_fields(self) -> bool:
        return self._managed or bool(self.node.metadata.annotations.taints_first_observed)

    def _put(self, node: Node, *, edited: bool = False) -> None:
        metadata = replace(node.metadata, resource_version=str(next(self._versions)))
        self.node = replace(node, metadata=metadata)
        if edited:
            owned = self._keeps_managed_fields and node.spec.taints
            managed = edited_at(self._clock.now()) if owned else ()
            self.node = replace(node, metadata=replace(metadata, managed_fields=managed))


class History:
    """A server, and workers one after another who watch it and note on the node."""

    def __init__(self, *, managed: bool) -> None:
        self.clock = ManualClock()
        self.server = Server(self.clock, managed=managed)
        self.may_note = True
        # Told of every change; else it learns of them from its next list.
        self.hears = True
        self.restart()

    def restart(self) -> None:
        """Another worker, which knows nothing."""
        self.worker = FirstSeen(self.clock)
        self.mirror = Mirror()
        self.mirror.listen_to_nodes(self.worker)
        self.relist()

    def relist(self) -> None:
        """The watch could not go on."""
        self.hears = True
        self._tell(Replaced((self.server.node,), "1"))

    def do(self, step: tuple[str, object]) -> None:
        """Let one thing happen, and the worker do what it wants to do then."""
        match step:
            case ("wait", float(seconds)):
                self.clock.advance(seconds)
            case ("toggle", str(key)):
                self.server.toggle(key)
            case ("note", bool(allowed)):
                self.may_note = allowed
            case ("away" | "gone" as how, (str(key), float(seconds))):
                self._change_unseen(key, seconds, later=seconds if how == "gone" else 0.0)
            case ("deaf", _):
                self.hears = False
            case (name, _):
                getattr(self.server if name == "touch" else self, str(name))()
        if self.hears:
            self._tell(Changed(self.server.node))
        self._note()

    def _change_unseen(self, key: str, seconds: float, later: float) -> None:
        """While nobody watched: that is learnt from a list, so many seconds later."""
        self.server.toggle(key)
        self.clock.advance(seconds)
        self.server.toggle(key)
        self.clock.advance(later)
        self.relist()

    def _tell(self, event) -> None:
        straight_through(self.mirror.apply_node(event))
        match event:
            case Replaced(items=(node,)) | Changed(object=node):
                self.seen = node

    def _note(self) -> None:
        note = self.worker.wanted_note(self.seen)
        if note is not None and self.may_note and note.due <= self.clock.monotonic():
            self.server.annotate(note.node, note.text)
            if self.hears:
                self._tell(Changed(self.server.node))

    def of_worker(self) -> dict[observations.Identity, datetime]:
        """Since when the taints count for the worker."""
        return {one: since.at for one, since in self.worker.since(self.seen).items()}

    def of_api(self) -> dict[observations.Identity, datetime]:
        """Since when they count for who looks at the cluster now."""
        served = observations.as_served(self.server.node)
        found = observations.since(served, (), self.clock.now())
        return {one: since.at for one, since in found.items()}


WAITS = st.sampled_from([0.1, 0.3, 0.5, 0.9, 1.0, 1.7, 40.0])
SEEN = (
    st.tuples(st.just("wait"), WAITS),
    st.tuples(st.just("toggle"), st.sampled_from(KEYS)),
    st.tuples(st.just("touch"), st.none()),
)
NOTES = st.tuples(st.just("note"), st.booleans())
UNSEEN = (
    st.tuples(st.just("away"), st.tuples(st.sampled_from(KEYS), WAITS)),
    st.tuples(st.sampled_from(["restart", "relist", "deaf"]), st.none()),
)


def histories(*steps):
    return st.lists(st.one_of(*steps), max_size=20)


@given(histories(*SEEN, NOTES, *UNSEEN), st.booleans())
def test_no_taint_counts_from_before_it_came(steps, managed):
    history = History(managed=managed)
    for step in steps:
        history.do(step)
        came = history.server.came
        assert all(at >= came[one] for one, at in history.of_api().items())
        if history.hears:
            assert all(at >= came[one] for one, at in history.of_worker().items())
            assert history.of_worker().keys() == came.keys()


@given(histories(*SEEN, NOTES))
def test_a_worker_that_watches_is_exact_whatever_becomes_of_notes(steps):
    history = History(managed=True)
    for step in steps:
        history.do(step)
        assert history.of_worker() == history.server.came


@given(histories(*SEEN, NOTES, *UNSEEN))
def test_none_counts_from_later_than_the_last_edit_tells(steps):
    history = History(managed=True)
    for step in steps:
        history.do(step)
        edited = history.server.node.taints_edited
        if edited is not None:
            assert all(at <= edited + SECOND for at in history.of_api().values())


@given(histories(*SEEN))
def test_a_note_keeps_what_a_worker_knew_to_the_microsecond(steps):
    history = History(managed=True)
    for step in [*steps, ("wait", 1.0)]:
        history.do(step)
    for step in ("restart", "relist", "restart"):
        history.do((step, None))
        assert history.of_worker() == history.of_api() == history.server.came


ONE_TAINT = (
    st.tuples(st.just("wait"), WAITS),
    st.tuples(st.just("toggle"), st.just("a")),
    st.tuples(st.sampled_from(["away", "gone"]), st.tuples(st.just("a"), WAITS)),
    st.tuples(st.sampled_from(["restart", "relist"]), st.none()),
)


@given(histories(*ONE_TAINT), st.booleans())
def test_a_taint_that_came_back_unseen_counts_from_the_end_of_its_second(steps, managed):
    """Also on a node that was made bare: the first note has the API server keep managedFields."""
    history = History(managed=managed)
    for step in steps:
        history.do(step)
        found, came = history.of_worker(), history.server.came
        assert found.keys() == came.keys()
        assert all(came[one] <= at <= came[one] + SECOND for one, at in found.items())


def test_a_node_made_anew_starts_anew():
    history = History(managed=False)
    history.may_note = False
    history.do(("toggle", "a"))
    history.do(("wait", 40.0))
    again = replace(history.server.node.metadata, uid="2")
    history.worker.node_changed(again.name, replace(history.server.node, metadata=again))
    assert set(history.of_worker().values()) == {history.clock.now()}
