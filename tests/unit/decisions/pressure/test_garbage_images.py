"""Which images a node removes, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.pressure.garbage import ContainerState, RuntimeContainer, RuntimeImage
from bailiff.decisions.pressure.garbage_images import (
    MINIMUM_AGE,
    MOST_IMAGES,
    ImageMemory,
    SeenImage,
    forget_images,
    observe_images,
    unused_images,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOTHING = ImageMemory()
A = RuntimeImage(id="sha256:a", tags=("a:1",), digests=("a@sha256:manifest",))
B = RuntimeImage(id="sha256:b")


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def seen(image: RuntimeImage, first: float, last: float | None = None) -> SeenImage:
    """First detected so many seconds ago, and last seen in use."""
    return SeenImage(image.id, ago(first), None if last is None else ago(last))


def memory(*images: SeenImage) -> ImageMemory:
    return ImageMemory(images=images)


def container(image: str = "", *mounted: str, state: int = 1) -> RuntimeContainer:
    return RuntimeContainer(
        id="c", state=ContainerState(state), image_id=image, mounted=mounted, sandbox_id="s"
    )


OLD = memory(seen(A, 3600))

STAYS = {
    "in use by a container that runs": (A, [container(A.id)], OLD),
    "in use by one that has exited": (A, [container(A.id, state=2)], OLD),
    "in use by one that was never started": (A, [container(A.id, state=0)], OLD),
    "of a runtime that tells the digest alone": (A, [container("a@sha256:manifest")], OLD),
    "mounted as a volume": (A, [container(B.id, A.id)], OLD),
    "pinned": (msgspec.structs.replace(A, pinned=True), [], OLD),
    "not old enough": (A, [], memory(seen(A, 119.999))),
    "never seen before": (A, [], NOTHING),
    "first seen in the future": (A, [], memory(seen(A, -3600))),
    "seen in use at this moment": (A, [], memory(seen(A, 3600, 0))),
    "seen in use in the future": (A, [], memory(seen(A, 3600, -3600))),
}
GOES = {
    "old": (A, [], OLD),
    "just old enough": (A, [], memory(seen(A, 120))),
    "used until a moment ago": (A, [], memory(seen(A, 3600, 0.001))),
    "a container of another image": (A, [container(B.id, B.id)], OLD),
    "named by a tag, which may be another image's by now": (A, [container("a:1")], OLD),
    "no container says of what it was made": (A, [container("")], OLD),
}


@pytest.mark.parametrize("case", STAYS)
def test_an_image_stays(case):
    image, containers, before = STAYS[case]
    assert unused_images(before, [image], containers, NOW) == ()


@pytest.mark.parametrize("case", GOES)
def test_an_image_goes(case):
    image, containers, before = GOES[case]
    assert unused_images(before, [image], containers, NOW) == (image,)


def test_how_old_it_is_to_be_may_be_said():
    assert unused_images(OLD, [A], [], NOW, timedelta(seconds=3601)) == ()
    assert unused_images(NOTHING, [A], [], NOW, timedelta(0)) == (A,)


def test_those_that_were_never_used_go_first_then_by_last_use_then_by_age():
    images = [RuntimeImage(id=name) for name in "abcdef"]
    a, b, c, d, e, f = images
    before = memory(
        seen(a, 500, 200), seen(b, 400, 300), seen(c, 300), seen(d, 900, 200), seen(e, 600)
    )
    before = memory(*before.images, SeenImage(f.id, ago(600)))
    # e and f are equal: they stay in the order in which the runtime lists them.
    assert unused_images(before, images, [], NOW) == (e, f, c, b, d, a)


def test_of_two_entries_of_one_image_each_may_pin_it():
    pinned = msgspec.structs.replace(A, pinned=True)
    assert unused_images(OLD, [pinned, A], [], NOW) == ()
    assert unused_images(OLD, [A, A], [], NOW) == (A,)


OBSERVED = {
    "new": (NOTHING, [], seen(A, 0)),
    "new and in use": (NOTHING, [container(A.id)], seen(A, 0, 0)),
    "known": (memory(seen(A, 60, 30)), [], seen(A, 60, 30)),
    "known and in use": (memory(seen(A, 60, 30)), [container(A.id)], seen(A, 60, 0)),
    "known and mounted": (memory(seen(A, 60)), [container(B.id, A.id)], seen(A, 60, 0)),
    "by a clock that was ahead": (memory(seen(A, -60, -30)), [], seen(A, 0, 0)),
}


@pytest.mark.parametrize("case", OBSERVED)
def test_what_is_seen_is_remembered(case):
    before, containers, after = OBSERVED[case]
    assert observe_images(before, [A, A], containers, NOW) == memory(after)


def test_what_is_gone_is_forgotten():
    before = memory(seen(A, 60), seen(B, 60))
    assert observe_images(before, [B], [], NOW) == memory(seen(B, 60))
    assert forget_images(before, {A.id}) == memory(seen(B, 60))


def test_an_image_that_is_pulled_again_is_new():
    after = forget_images(OLD, {A.id})
    assert unused_images(after, [A], [], NOW) == ()


def test_the_memory_is_bounded_and_those_that_are_known_stay_in_it():
    known = [RuntimeImage(id=f"sha256:z{number:064}") for number in range(MOST_IMAGES)]
    new = [RuntimeImage(id=f"sha256:a{number:064}") for number in range(10)]
    before = observe_images(NOTHING, known, [], ago(3600))
    assert len(before.images) == MOST_IMAGES
    after = observe_images(before, new + known, [container(known[0].id)], NOW)
    assert {one.id for one in after.images} == {one.id for one in known}
    used = msgspec.structs.replace(known[0], pinned=True).id
    assert {one.id for one in unused_images(after, new + known, [], NOW)} == {
        one.id for one in known if one.id != used
    }
    assert len(msgspec.json.encode(after)) < 1_000_000
    # As these go there is room for the others.
    after = observe_images(after, new + known[10:], [], NOW)
    assert {one.id for one in after.images} == {one.id for one in new + known[10:]}


def test_an_image_without_end_to_its_name_is_not_remembered_and_stays():
    long = RuntimeImage(id="a" * 161)
    after = observe_images(NOTHING, [long, A], [], ago(3600))
    assert [one.id for one in after.images] == [A.id]
    assert unused_images(after, [long, A], [], NOW) == (A,)


def test_a_memory_is_written_as_json_and_read_again():
    before = memory(seen(A, 60, 30), seen(B, 60))
    written = msgspec.json.encode(before)
    assert written == (
        b'{"images":[["sha256:a","2026-01-01T11:59:00Z","2026-01-01T11:59:30Z"],'
        b'["sha256:b","2026-01-01T11:59:00Z",null]]}'
    )
    assert msgspec.json.decode(written, type=ImageMemory) == before


@pytest.mark.parametrize(
    "text",
    [
        '{"images":[["a","2026-01-01T11:59:00"]]}',
        '{"images":[["' + "a" * 161 + '","2026-01-01T11:59:00Z"]]}',
        '{"images":[' + ",".join(['["a","2026-01-01T11:59:00Z"]'] * (MOST_IMAGES + 1)) + "]}",
    ],
)
def test_what_is_no_memory_cannot_be_read(text):
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=ImageMemory)


class Look(NamedTuple):
    """A node at one moment."""

    images: list[RuntimeImage]
    containers: list[RuntimeContainer]
    at: datetime


IDS = st.sampled_from(["a", "b", "c", "d", "e"])
IMAGES = st.lists(st.builds(RuntimeImage, id=IDS, pinned=st.booleans()), max_size=6)
CONTAINERS = st.lists(
    st.builds(
        RuntimeContainer,
        id=st.just("c"),
        state=st.sampled_from(ContainerState),
        image_id=IDS | st.just(""),
        mounted=st.lists(IDS, max_size=1).map(tuple),
    ),
    max_size=2,
)
# A clock that steps: back as well as ahead.
LOOKS = st.lists(
    st.builds(Look, IMAGES, CONTAINERS, st.integers(-600, 600).map(ago)), min_size=1, max_size=6
)


def remembered(looks: list[Look]) -> ImageMemory:
    found = NOTHING
    for look in looks:
        found = observe_images(found, look.images, look.containers, look.at)
    return found


def used_by(containers: list[RuntimeContainer]) -> set[str]:
    return {name for one in containers for name in (one.image_id, *one.mounted)}


@given(LOOKS)
def test_none_goes_that_is_pinned_in_use_mounted_or_too_young(looks):
    images, containers, now = looks[-1]
    before = remembered(looks[:-1])
    first = {one.id: one.first_detected for one in before.images}
    for gone in unused_images(before, images, containers, now):
        assert gone in images
        assert not any(one.pinned for one in images if one.id == gone.id)
        assert gone.id not in used_by(containers)
        assert now - first[gone.id] >= MINIMUM_AGE


@given(LOOKS)
def test_all_others_go_each_once_in_the_kubelets_order(looks):
    images, containers, now = looks[-1]
    before = observe_images(remembered(looks[:-1]), images, containers, now)
    gone = unused_images(before, images, containers, now)
    assert len({one.id for one in gone}) == len(gone)
    found = {one.id: one for one in before.images}
    keys = [(found[one.id].last_used or datetime.min.replace(tzinfo=UTC),
             found[one.id].first_detected) for one in gone]  # fmt: skip
    assert keys == sorted(keys)
    pinned = {one.id for one in images if one.pinned}
    young = {
        one.id
        for one in before.images
        if now - one.first_detected < MINIMUM_AGE or one.last_used == now
    }
    assert {one.id for one in gone} == found.keys() - pinned - used_by(containers) - young


@given(LOOKS)
def test_a_look_before_makes_no_difference_to_what_goes_now(looks):
    images, containers, now = looks[-1]
    before = remembered(looks[:-1])
    after = observe_images(before, images, containers, now)
    assert unused_images(before, images, containers, now) == unused_images(
        after, images, containers, now
    )


@given(LOOKS)
def test_what_has_gone_goes_once(looks):
    images, containers, now = looks[-1]
    before = remembered(looks)
    gone = {one.id for one in unused_images(before, images, containers, now)}
    left = [one for one in images if one.id not in gone]
    after = observe_images(forget_images(before, gone), left, containers, now)
    assert unused_images(after, left, containers, now) == ()
    assert after == observe_images(before, left, containers, now)


@given(LOOKS)
def test_a_memory_tells_of_what_is_there_and_of_nothing_to_come(looks):
    images, containers, now = looks[-1]
    after = remembered(looks)
    assert [one.id for one in after.images] == sorted(
        {one.id for one in images},
        key=lambda one: (one not in {known.id for known in remembered(looks[:-1]).images}, one),
    )
    assert all(one.first_detected <= now for one in after.images)
    assert all(one.last_used is None or one.last_used <= now for one in after.images)
    assert observe_images(after, images, containers, now).images == tuple(
        sorted(after.images, key=lambda one: one.id)
    )
    assert msgspec.json.decode(msgspec.json.encode(after), type=ImageMemory) == after
