"""What a real kubelet was recorded to free on its node (tests/real_node), freed again by our rules.

The kubelet's log tells when it looked at images and what it removed, CRI what there was before and
after. Images that were first seen, and last used, at the same looks go in an order that is another
each time. So the order is compared by those looks.
"""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from bailiff.decisions.pressure.garbage import (
    ContainerState,
    RuntimeContainer,
    RuntimeImage,
    RuntimeSandbox,
)
from bailiff.decisions.pressure.garbage_containers import (
    LocalPods,
    dead_containers,
    unused_sandboxes,
)
from bailiff.decisions.pressure.garbage_images import (
    ImageMemory,
    observe_images,
    unused_images,
)
from bailiff.kinds import Pod

RECORD = Path(__file__).parents[3] / "cases" / "real_node" / "garbage.jsonl.gz"
LINE = re.compile(
    r'I(\d{4} [\d:.]+) +\d+ \S+\] "([^"]+)"(?:.*?(?:image|container|sandbox)ID="([^"]+))?'
)
STATES = {f"CONTAINER_{one.name}": one for one in ContainerState}


class Line(NamedTuple):
    """A line of the kubelet's log.

    Attributes:
        at: when it was written.
        says: what it says.
        which: an ID of what it speaks of; empty: it names none.
    """

    at: datetime
    says: str
    which: str


class Node(NamedTuple):
    """What CRI told at one moment."""

    images: list[RuntimeImage]
    containers: list[RuntimeContainer]
    sandboxes: list[RuntimeSandbox]


class Recording(NamedTuple):
    """The scene.

    Attributes:
        start: before the kubelet was there.
        look: after it looked at images for the last time before the disk was full.
        before: when the disk got full.
        after: when the kubelet was content.
        pods: when the disk got full.
        log: of the kubelet, all of it that is recorded.
    """

    start: Node
    look: Node
    before: Node
    after: Node
    pods: list[Pod]
    log: list[Line]


@cache
def recorded() -> Recording:
    with gzip.open(RECORD, "rt") as lines:
        found = [json.loads(line) for line in lines]

    def first(kind: str) -> Any:
        return next(one["value"] for one in found if one["kind"] == kind)

    lists = [node_of(first(f"lists-{when}")) for when in ("at-start", "at-look", "before", "after")]
    pods = [msgspec.convert(one, Pod, strict=False) for one in first("pods")["items"]]
    year = first("node")["metadata"]["creationTimestamp"][:4]
    start, look, before, after = lists
    return Recording(start, look, before, after, pods, log_of(first("log"), year))


def log_of(text: str, year: str) -> list[Line]:
    """Its lines; klog writes no year, and here UTC."""
    found = []
    for match in filter(None, map(LINE.match, text.splitlines())):
        written, says, which = match.groups()
        when = datetime.strptime(year + written, "%Y%m%d %H:%M:%S.%f").replace(tzinfo=UTC)
        found.append(Line(when, says, which or ""))
    return found


def node_of(lists: dict[str, Any]) -> Node:
    """From the JSON of protobuf, which leaves out what is the first of an enumeration."""
    mounts = {one["status"]["id"]: one["status"].get("mounts", ()) for one in lists["statuses"]}
    images = [
        RuntimeImage(
            id=one["id"],
            tags=tuple(one.get("repo_tags", ())),
            digests=tuple(one.get("repo_digests", ())),
            size=int(one["size"]),
            pinned=one.get("pinned", False),
        )
        for one in lists["images"]["images"]
    ]
    containers = [
        RuntimeContainer(
            id=one["id"],
            name=one["metadata"]["name"],
            pod_uid=one["labels"]["io.kubernetes.pod.uid"],
            sandbox_id=one["pod_sandbox_id"],
            state=STATES[one.get("state", "CONTAINER_CREATED")],
            created_at=int(one["created_at"]),
            image_id=one.get("image_id") or one["image_ref"],
            mounted=tuple(m["image"]["image"] for m in mounts[one["id"]] if "image" in m),
        )
        for one in lists["containers"].get("containers", ())
    ]
    sandboxes = [
        RuntimeSandbox(
            id=one["id"],
            pod_uid=one["metadata"]["uid"],
            ready=one.get("state", "SANDBOX_READY") == "SANDBOX_READY",
            created_at=int(one["created_at"]),
            source=one.get("annotations", {}).get("kubernetes.io/config.source", ""),
        )
        for one in lists["sandboxes"].get("items", ())
    ]
    return Node(images, containers, sandboxes)


def looks_of(log: list[Line]) -> list[tuple[datetime, set[str], set[str]]]:
    """When the kubelet looked at images, which ones were new to it, and which were in use.

    It looks twice at the same time, for two purposes: that counts as once.
    """
    found: list[tuple[datetime, set[str], set[str]]] = []
    for line in log:
        new, used = "is new" in line.says, "Setting Image ID lastUsed" in line.says
        if not (new or used):
            continue
        if not found or (line.at - found[-1][0]).total_seconds() > 10:
            found.append((line.at, set(), set()))
        (found[-1][1] if new else found[-1][2]).add(line.which)
    return found


def remembered(recording: Recording) -> list[ImageMemory]:
    """What we would remember of the same nodes, looked at when the kubelet looked."""
    looks = looks_of(recording.log)
    nodes = [
        recording.start,
        *(told_of(looks[: number + 1]) for number in range(1, len(looks) - 2)),
        recording.look,
        left_of(recording),
    ]
    memory, found = ImageMemory(), []
    for (look, *_), node in zip(looks, nodes, strict=True):
        memory = observe_images(memory, node.images, node.containers, look)
        found.append(memory)
    return found


def told_of(looks: list[tuple[datetime, set[str], set[str]]]) -> Node:
    """A node while its pods were being started, of which there are no lists: by the log alone."""
    images = set[str]().union(*(new for _, new, _ in looks))
    used = looks[-1][2]
    return Node(
        [RuntimeImage(id=one) for one in sorted(images)],
        [RuntimeContainer(id=one, image_id=one) for one in sorted(used)],
        [],
    )


def when(recording: Recording, says: str) -> datetime:
    return next(line.at for line in recording.log if line.says == says)


def removed(recording: Recording, what: str) -> list[str]:
    """What the kubelet removed for lack of disk, in its order."""
    full = when(recording, "Attempting to delete unused containers")
    return [one.which for one in recording.log if one.says == f"Removing {what}" and one.at > full]


def ours(recording: Recording) -> tuple[RuntimeContainer, ...]:
    now = when(recording, "Attempting to delete unused containers")
    pods, node = LocalPods.of(recording.pods), recording.before
    return dead_containers(node.containers, node.sandboxes, pods, now)


def left_of(recording: Recording) -> Node:
    """What there was when the dead containers had gone."""
    dead = ours(recording)
    before = recording.before
    return before._replace(containers=[one for one in before.containers if one not in dead])


def ids(listed: list[Any] | tuple[Any, ...]) -> set[str]:
    return {one.id for one in listed}


def name_of(image: RuntimeImage) -> str:
    """As the scene has it: `early-1`."""
    return image.tags[0].rpartition("/")[2].removesuffix(":1")


def test_there_is_much_to_free_and_much_that_must_stay():
    before, log = recorded().before, recorded().log
    assert len(before.images) == 51  # 50, and that of sandboxes
    assert sum(one.state is not ContainerState.RUNNING for one in before.containers) >= 30
    assert {one.state for one in before.containers} == {
        ContainerState.CREATED, ContainerState.RUNNING, ContainerState.EXITED,
    }  # fmt: skip
    assert "Eviction manager: able to reduce resource pressure without evicting pods." in {
        line.says for line in log
    }


def test_the_same_containers_go():
    recording = recorded()
    assert ids(ours(recording)) == set(removed(recording, "container"))
    assert ids(left_of(recording).containers) == ids(recording.after.containers)


def test_the_same_sandboxes_go():
    recording = recorded()
    node = left_of(recording)
    found = unused_sandboxes(node.sandboxes, node.containers, LocalPods.of(recording.pods))
    assert ids(found) == set(removed(recording, "sandbox"))
    assert ids(node.sandboxes) - ids(found) == ids(recording.after.sandboxes)


def test_the_same_images_are_seen_at_each_look():
    recording = recorded()
    known: set[str] = set()
    for (look, new, used), memory in zip(
        looks_of(recording.log), remembered(recording), strict=True
    ):
        assert ids(memory.images) - known == new
        assert {one.id for one in memory.images if one.last_used == look} == used
        known |= ids(memory.images)


def ours_of_images(recording: Recording) -> tuple[RuntimeImage, ...]:
    node, memory = left_of(recording), remembered(recording)[-2]
    now = when(recording, "Attempting to delete unused images")
    return unused_images(memory, node.images, node.containers, now)


def test_the_same_images_go():
    recording = recorded()
    found = ours_of_images(recording)
    assert ids(found) == set(removed(recording, "image to free bytes"))
    assert ids(recording.before.images) - ids(found) == ids(recording.after.images)


def test_the_same_images_go_in_the_same_order():
    recording = recorded()
    seen = {
        one.id: (one.last_used or datetime.min.replace(tzinfo=UTC), one.first_detected)
        for one in remembered(recording)[-2].images
    }
    theirs = [seen[which] for which in removed(recording, "image to free bytes")]
    assert len(set(theirs)) > 3
    assert [seen[one.id] for one in ours_of_images(recording)] == theirs


STAYS = {
    "a container runs": ["early-1", "early-3", "early-8", "early-18", "later-1"],
    "a container of a pod that runs has ended": ["early-15", "early-16", "early-19"],
    "a container of a pod that runs was never started": ["early-21"],
    "mounted as a volume": ["early-13", "later-5"],
    "pinned": ["early-11", "early-12", "later-4", "filler"],
    "pulled, and used, since the kubelet last looked": ["young-1"],
    "pulled minutes ago, but since the kubelet last looked": [f"young-{n}" for n in range(2, 9)],
    "pulled just now": ["newest-1", "newest-2"],
}


def test_what_stays_and_why():
    node = recorded().after
    assert sorted(map(name_of, node.images)) == sorted(one for why in STAYS.values() for one in why)


def test_each_of_the_reasons_is_one_of_the_record():
    """Without any of them other images would have gone."""
    recording = recorded()
    node, memory = left_of(recording), remembered(recording)[-2]
    now = when(recording, "Attempting to delete unused images")

    def gone(images: list[RuntimeImage], containers: list[RuntimeContainer]) -> set[str]:
        found = unused_images(memory, images, containers, now)
        return set(map(name_of, found)) - set(map(name_of, ours_of_images(recording)))

    unpinned = [msgspec.structs.replace(one, pinned=False) for one in node.images]
    assert gone(unpinned, node.containers) == set(STAYS["pinned"])
    unmounted = [msgspec.structs.replace(one, mounted=()) for one in node.containers]
    assert gone(node.images, unmounted) == set(STAYS["mounted as a volume"])
    running = [one for one in node.containers if one.state is ContainerState.RUNNING]
    assert gone(node.images, running) == {
        *STAYS["a container of a pod that runs has ended"],
        *STAYS["a container of a pod that runs was never started"],
    }


@pytest.mark.parametrize("which", ["ends", "runs"])
def test_static_pods_are_told_by_the_uid_that_their_containers_carry(which):
    """That of what the kubelet has read, and not that of the pod which shows it in the API."""
    recording = recorded()
    (pod,) = [one for one in recording.pods if one.metadata.name == f"static-{which}-node"]
    uids = {one.pod_uid for one in recording.before.sandboxes if one.source == "file"}
    assert pod.metadata.uid not in uids
    assert pod.metadata.annotations.config_mirror in uids
