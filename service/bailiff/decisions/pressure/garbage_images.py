"""Which images nobody uses, and in which order they go.

Source: pkg/kubelet/images/image_gc_manager.go (detectImages, imagesInEvictionOrder, freeSpace,
DeleteUnusedImages). For lack of disk the kubelet removes all of them, not only as many as it needs.

CRI does not tell since when an image has been there, nor when it was last used, so whoever asks
looks every few minutes and keeps what was seen; the kubelet does so every five minutes, and forgets
it when it is started anew. By that an image is as old as it has been seen to be: one that was
pulled since the last look counts as new.

Images are told apart by their ID alone. The feature gate RuntimeClassInImageCriApi (alpha, off)
tells those of one ID apart by their runtime handlers, and the kubelet removes them by the ID even
then (RemoveImage in pkg/kubelet/kuberuntime/kuberuntime_image.go).

An instant in the future counts as now: see progress.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from bailiff.kinds.meta import Time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from bailiff.decisions.pressure.garbage import RuntimeContainer, RuntimeImage

# `imageMinimumGCAge` of a KubeletConfiguration, where it says nothing.
MINIMUM_AGE = timedelta(minutes=2)
# Bytes of the memory as JSON: 1,000,000 at most. A node has some hundred images, and an ID is a
# SHA-256 of 71 characters. An image that is not remembered is never removed; as those go that are,
# there is room for it.
MOST_IMAGES = 4096
_LONGEST_ID = 160
_NEVER = datetime.min.replace(tzinfo=UTC)


class SeenImage(Struct, frozen=True, array_like=True, gc=False):
    """What was seen of an image; an array in JSON, since there may be thousands.

    Attributes:
        id: as of RuntimeImage.
        first_detected: when it was first seen.
        last_used: when it was last seen in use; None: it never was.
    """

    id: Annotated[str, Meta(max_length=_LONGEST_ID)]
    first_detected: Time
    last_used: Time | None = None


class ImageMemory(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What was seen of all images that were there at the last look.

    Attributes:
        images: each once.
    """

    images: Annotated[tuple[SeenImage, ...], Meta(max_length=MOST_IMAGES)] = ()


def observe_images(
    memory: ImageMemory,
    images: Iterable[RuntimeImage],
    containers: Iterable[RuntimeContainer],
    now: datetime,
) -> ImageMemory:
    """What is to be remembered after a look at the node.

    Args:
        memory: of the look before.
        images: all that are on the node.
        containers: all that are on the node, dead ones included: they use their images, too.
        now: in UTC.
    """
    images = tuple(images)
    before = {one.id: one for one in memory.images}
    used = _in_use(images, containers)
    # Those that are known first: were they dropped for new ones, none would ever be old enough.
    listed = sorted({one.id for one in images}, key=lambda one: (one not in before, one))
    seen = (
        _seen(before.get(one), one, used=one in used, now=now)
        for one in listed
        if len(one) <= _LONGEST_ID
    )
    return ImageMemory(images=tuple(seen)[:MOST_IMAGES])


def unused_images(
    memory: ImageMemory,
    images: Iterable[RuntimeImage],
    containers: Iterable[RuntimeContainer],
    now: datetime,
    minimum_age: timedelta = MINIMUM_AGE,
) -> tuple[RuntimeImage, ...]:
    """The images to remove, each by its ID: those that were never used first, then by last use.

    Of equal ones that comes first which was seen first. Removing one may fail; the kubelet goes on
    with the next.

    Args:
        memory: of `observe_images`, with what is there now or not.
        images: all that are on the node.
        containers: all that are on the node, after dead ones were removed; dead ones that are left
            use their images, too.
        now: in UTC.
        minimum_age: how long an image has been seen at least: younger ones may have been pulled for
            a container that is about to be made. 0 or more.
    """
    images = tuple(images)
    before = {one.id: one for one in memory.images}
    kept = _in_use(images, containers) | {one.id for one in images if one.pinned}
    free = [
        (_seen(before.get(one.id), one.id, used=False, now=now), one)
        for one in {one.id: one for one in images}.values()
        if one.id not in kept
    ]
    old = [each for each in free if _may_go(each[0], now, minimum_age)]
    old.sort(key=lambda each: (each[0].last_used or _NEVER, each[0].first_detected))
    return tuple(image for _, image in old)


def forget_images(memory: ImageMemory, removed: Collection[str]) -> ImageMemory:
    """The same without images that were removed, by ID: pulled again, they are new (freeImage)."""
    return ImageMemory(images=tuple(one for one in memory.images if one.id not in removed))


def _in_use(images: Iterable[RuntimeImage], containers: Iterable[RuntimeContainer]) -> set[str]:
    """The IDs of images that a container was made of, or has mounted.

    Sandboxes do not count: their image stays if the runtime has pinned it. That a container may
    name its image by its digest is for runtimes that tell no `image_id`.
    """
    named = {name for one in containers for name in (one.image_id, *one.mounted)}
    return {one.id for one in images if not named.isdisjoint((one.id, *one.digests))}


def _seen(before: SeenImage | None, which: str, *, used: bool, now: datetime) -> SeenImage:
    first = now if before is None else min(now, before.first_detected)
    last = None if before is None or before.last_used is None else min(now, before.last_used)
    return SeenImage(which, first, now if used else last)


def _may_go(seen: SeenImage, now: datetime, minimum_age: timedelta) -> bool:
    """Not seen in use at this very moment, and old enough (freeSpace)."""
    return seen.last_used != now and now - seen.first_detected >= minimum_age
