"""The mirror: what one event does to it, and what others see while a list is taken in by slices."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from bailiff.cluster import Changed, Deleted, Replaced, Unreadable
from bailiff.kinds import Node, ObjectMeta, Pod
from bailiff.worker.mirror.mirror import Mirror, PodKey, pod_key
from bailiff.worker.mirror.slices import SLICE
from tests.harness.kinds import node_of, pod_of
from tests.harness.turns import straight_through, turns


class Diary:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def nodes_relisted(self) -> None:
        self.told.append("nodes relisted")

    def node_changed(self, name: str, node: Node | None) -> None:
        self.told.append(f"node {name}")

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        self.told.append(f"pod {key[1]} {pod.metadata.uid}")

    def pod_gone(self, pod: Pod) -> None:
        self.told.append(f"gone {pod.metadata.uid}")


class Scene:
    def __init__(self) -> None:
        self.diary = Diary()
        self.mirror = Mirror()
        self.mirror.listen_to_nodes(self.diary)
        self.mirror.listen_to_pods(self.diary)

    def tell(self, event: Replaced[Pod] | Changed[Pod] | Deleted[Pod] | Unreadable) -> list[str]:
        """What the listener hears of an event of pods."""
        self.diary.told.clear()
        straight_through(self.mirror.apply_pod(event))
        return list(self.diary.told)

    def tell_node(self, event: Replaced[Node] | Changed[Node] | Deleted[Node] | Unreadable) -> None:
        straight_through(self.mirror.apply_node(event))

    def pods(self) -> dict[str, str]:
        """UID by name, as each index has them."""
        on_nodes = {
            pod.metadata.name: pod.metadata.uid
            for node in ("n1", "n2", "n3")
            for pod in self.mirror.pods_on(node)
        }
        found = (self.mirror.pod(("default", name)) for name in on_nodes)
        assert on_nodes == {pod.metadata.name: pod.metadata.uid for pod in found if pod}
        assert self.mirror.pod_count == len(on_nodes)
        return on_nodes


def pod(name: str, uid: str = "", node: str = "n1", phase: str = "Running") -> Pod:
    return pod_of(name, node, phase=phase, uid=uid or f"uid-{name}")


def unreadable(name: str, *, deleted: bool = False) -> Unreadable:
    meta = ObjectMeta(name=name, namespace="default", resource_version="9")
    return Unreadable(meta, "why", deleted)


BEGINNING = Replaced((pod("a"), pod("b"), pod("c", node="n2")), "1")


@pytest.mark.parametrize(
    ("event", "told", "left"),
    [
        pytest.param(
            Replaced((pod("a"), pod("d")), "2"),
            ["gone uid-b", "gone uid-c", "pod a uid-a", "pod d uid-d"],
            {"a": "uid-a", "d": "uid-d"},
            id="a list without pods that were there",
        ),
        pytest.param(
            Replaced((pod("a", "new"), pod("b"), pod("c", node="n2")), "2"),
            ["gone uid-a", "pod a new", "pod b uid-b", "pod c uid-c"],
            {"a": "new", "b": "uid-b", "c": "uid-c"},
            id="a list with another pod under the name",
        ),
        pytest.param(
            Changed(pod("a", "new")),
            ["gone uid-a", "pod a new"],
            {"a": "new", "b": "uid-b", "c": "uid-c"},
            id="another pod under the name in one update",
        ),
        pytest.param(
            Changed(pod("a", node="n3")),
            ["gone uid-a", "pod a uid-a"],
            {"a": "uid-a", "b": "uid-b", "c": "uid-c"},
            id="another node",
        ),
        pytest.param(Deleted(pod("a")), ["gone uid-a"], {"b": "uid-b", "c": "uid-c"}, id="deleted"),
        pytest.param(Deleted(pod("x")), [], {"a": "uid-a", "b": "uid-b", "c": "uid-c"}, id="who?"),
        pytest.param(
            unreadable("a"), ["gone uid-a"], {"b": "uid-b", "c": "uid-c"}, id="cannot be decoded"
        ),
        pytest.param(
            Replaced((pod("b"),), "2", (unreadable("a"),)),
            ["gone uid-a", "gone uid-c", "pod b uid-b"],
            {"b": "uid-b"},
            id="a list with one that cannot be decoded",
        ),
    ],
)
def test_what_an_event_does(event, told, left):
    scene = Scene()
    scene.tell(BEGINNING)
    assert scene.tell(event) == told
    assert scene.pods() == left


@pytest.mark.parametrize(
    ("event", "count"),
    [
        (Changed(pod("d")), 4),
        (Changed(pod("a")), 3),
        (Changed(pod("a", phase="Succeeded")), 2),
        (Changed(pod("a", "new")), 3),
        (Changed(pod("a", "new", phase="Failed")), 2),
        (Changed(pod("d", phase="Failed")), 3),
        (Deleted(pod("a")), 2),
        (Deleted(pod("a", phase="Succeeded")), 2),
        (unreadable("a"), 2),
        (Replaced((pod("a"), pod("d", phase="Failed")), "2"), 1),
        (Replaced((), "2"), 0),
    ],
)
def test_how_many_pods_of_a_namespace_have_not_finished(event, count):
    scene = Scene()
    assert scene.mirror.pods_in("default") == 0
    scene.tell(BEGINNING)
    scene.tell(event)
    assert (scene.mirror.pods_in("default"), scene.mirror.pods_in("other")) == (count, 0)


def test_the_nodes_that_pods_name_are_there_though_nobody_has_told_of_them():
    scene = Scene()
    scene.tell(BEGINNING)
    scene.tell_node(Changed(node_of("n1")))
    scene.tell_node(Changed(node_of("n3")))
    assert list(scene.mirror.node_names()) == ["n1", "n3", "n2"]
    assert (scene.mirror.node_count, scene.mirror.pod_count) == (2, 3)


EVENTS = st.one_of(
    st.builds(
        lambda name, uid, node, phase: Changed(pod(name, uid, node, phase)),
        st.sampled_from("abc"),
        st.sampled_from(["1", "2"]),
        st.sampled_from(["n1", "n2", ""]),
        st.sampled_from(["Running", "Succeeded"]),
    ),
    st.builds(lambda name: Deleted(pod(name)), st.sampled_from("abc")),
    st.builds(unreadable, st.sampled_from("abc")),
    st.builds(
        lambda names: Replaced(tuple(pod(name, "3") for name in sorted(names)), "2"),
        st.sets(st.sampled_from("abc")),
    ),
)


@given(st.lists(EVENTS))
def test_the_indexes_agree_whatever_comes(events):
    scene, model = Scene(), {}
    for event in events:
        scene.tell(event)
        match event:
            case Replaced(items=items):
                model = {one.metadata.name: one for one in items}
            case Changed(object=one):
                model[one.metadata.name] = one
            case Deleted(object=one):
                model.pop(one.metadata.name, None)
            case Unreadable(metadata=metadata):
                model.pop(metadata.name, None)
    mirror = scene.mirror
    assert {name: mirror.pod(("default", name)) for name in model} == model
    assert mirror.pod_count == len(model)
    for node in ("n1", "n2"):
        on_node = sorted(one.metadata.name for one in mirror.pods_on(node))
        assert on_node == sorted(n for n, one in model.items() if one.spec.node_name == node)
    assert mirror.pods_in("default") == sum(not one.is_finished for one in model.values())


def many(uid: str, count: int = 2 * SLICE + 1) -> tuple[Pod, ...]:
    return tuple(pod(f"p{number}", f"{uid}-{number}") for number in range(count))


def test_the_first_list_counts_as_taken_in_when_all_of_it_is():
    scene = Scene()
    scene.tell_node(Replaced((), "1"))
    seen = [scene.mirror.synced for _ in turns(scene.mirror.apply_pod(Replaced(many("1"), "1")))]
    assert len(seen) == 4
    assert not any(seen)
    assert scene.mirror.synced
    assert scene.mirror.listed.is_set()


def test_without_a_list_of_nodes_absence_means_nothing():
    scene = Scene()
    scene.tell(BEGINNING)
    scene.tell_node(Changed(node_of("n1")))
    assert (scene.mirror.synced, scene.mirror.listed.is_set()) == (False, False)
    scene.tell_node(Replaced((), "1"))
    assert (scene.mirror.synced, scene.mirror.listed.is_set()) == (True, True)


def test_while_a_list_is_taken_in_each_pod_is_there_as_it_was_or_as_it_is():
    scene = Scene()
    before, after = many("old"), many("new")[1:]
    scene.tell(Replaced(before, "1"))
    states = set()
    for _ in turns(scene.mirror.apply_pod(Replaced(after, "2"))):
        found = [scene.mirror.pod(pod_key(one)) for one in after]
        assert all(found), "a pod that is in both lists is missing in between"
        states.add(sum(one.metadata.uid.startswith("new") for one in found if one))
    # It did go on by slices, and others have seen it half done.
    assert {0, SLICE} <= states
    assert {one.metadata.uid for one in scene.mirror.pods_on("n1")} == {
        one.metadata.uid for one in after
    }


def test_a_node_that_cannot_be_decoded_is_neither_believed_nor_taken_for_gone():
    scene = Scene()
    scene.tell_node(Replaced((node_of("n1"), node_of("n2")), "1", (unreadable("n3"),)))
    assert [scene.mirror.is_unreadable(name) for name in ("n1", "n2", "n3")] == [0, 0, 1]
    scene.tell_node(unreadable("n1"))
    assert scene.mirror.node("n1") is None
    assert scene.mirror.is_unreadable("n1")
    assert scene.diary.told[-1] == "node n1"
    scene.tell_node(Changed(node_of("n1")))
    assert scene.mirror.node("n1") is not None
    assert not scene.mirror.is_unreadable("n1")
    scene.tell_node(unreadable("n3", deleted=True))
    assert not scene.mirror.is_unreadable("n3")


def test_a_node_that_was_deleted_is_gone():
    scene = Scene()
    scene.tell_node(Replaced((node_of("n1"),), "1"))
    scene.tell_node(Deleted(node_of("n1")))
    assert scene.mirror.node("n1") is None
    assert not scene.mirror.is_unreadable("n1")
    assert scene.diary.told[-1] == "node n1"


def test_a_list_of_nodes_drops_those_that_are_not_in_it():
    scene = Scene()
    scene.tell_node(Replaced((node_of("n1"), node_of("n2")), "1", (unreadable("n3"),)))
    scene.diary.told.clear()
    scene.tell_node(Replaced((node_of("n2"),), "2"))
    assert [node.metadata.name for node in scene.mirror.nodes()] == ["n2"]
    assert not scene.mirror.is_unreadable("n3")
    assert sorted(scene.diary.told) == ["node n1", "node n2", "node n3", "nodes relisted"]
