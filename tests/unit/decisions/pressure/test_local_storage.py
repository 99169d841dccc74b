"""Pods that are over a limit of their own on the node's disk."""

from __future__ import annotations

import pytest

from bailiff.decisions.pressure.local_storage import StorageLimit, excess, has_storage_limit
from bailiff.kinds import Pod, decode
from bailiff.kinds.stats import PodStats

LIMITED = (
    b'{"spec":{"containers":[{"name":"c","resources":{"limits":{"ephemeral-storage":"100"}}}]}}'
)
SIDECAR = LIMITED.replace(b'"containers"', b'"initContainers"').replace(
    b'"name":"c"', b'"name":"c","restartPolicy":"Always"'
)
SCRATCH = b'{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"100"}}]}}'
IN_MEMORY = SCRATCH.replace(b'"sizeLimit"', b'"medium":"Memory","sizeLimit"')


def limit_of(
    pod: bytes, stats: bytes, *, dedicated: bool = False, sidecars: bool = False
) -> StorageLimit | None:
    found = excess(
        decode(pod, Pod),
        decode(stats, PodStats),
        dedicated_image_fs=dedicated,
        limits_sidecars=sidecars,
    )
    return None if found is None else found.limit


def volume(used: str) -> bytes:
    return b'{"volume":[{"name":"v"%s}]}' % (f',"usedBytes":{used}' if used else "").encode()


def container(layer: int, logs: int) -> bytes:
    told = f'"rootfs":{{"usedBytes":{layer}}},"logs":{{"usedBytes":{logs}}}'
    return b'{"containers":[{"name":"c",%s}]}' % told.encode()


@pytest.mark.parametrize("pod", [SCRATCH, IN_MEMORY])
@pytest.mark.parametrize(
    ("used", "limit"), [("100", None), ("101", StorageLimit.EMPTY_DIR), ("", None)]
)
def test_a_volume(pod: bytes, used: str, limit: StorageLimit | None) -> None:
    assert limit_of(pod, volume(used)) == limit


def test_a_limit_of_nothing_is_none() -> None:
    assert limit_of(SCRATCH.replace(b"100", b"0"), volume("5")) is None
    assert limit_of(LIMITED.replace(b"100", b"0"), container(5, 0)) is None


@pytest.mark.parametrize(("used", "limit"), [(100, None), (101, StorageLimit.POD)])
def test_a_pod_as_a_whole(used: int, limit: StorageLimit | None) -> None:
    stats = b'{"ephemeral-storage":{"usedBytes":%d}}' % used
    assert limit_of(LIMITED, stats) == limit


@pytest.mark.parametrize(
    ("layer", "logs", "dedicated", "limit"),
    [
        (50, 50, False, None),
        (51, 50, False, StorageLimit.CONTAINER),
        (51, 50, True, None),
        (0, 101, True, StorageLimit.CONTAINER),
    ],
)
def test_a_container(layer: int, logs: int, dedicated: bool, limit: StorageLimit | None) -> None:
    assert limit_of(LIMITED, container(layer, logs), dedicated=dedicated) == limit


@pytest.mark.parametrize(("counts", "limit"), [(False, None), (True, StorageLimit.CONTAINER)])
def test_a_sidecars_own_limit_counts_from_1_37_on(counts: bool, limit: StorageLimit | None) -> None:
    assert limit_of(SIDECAR, container(101, 0), sidecars=counts) == limit


@pytest.mark.parametrize("pod", [LIMITED, SIDECAR, SCRATCH, IN_MEMORY])
def test_who_can_be_over_a_limit_is_looked_at(pod: bytes) -> None:
    assert has_storage_limit(decode(pod, Pod))
    assert not has_storage_limit(decode(b'{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}', Pod))


def test_the_limit_that_has_been_granted_counts() -> None:
    granted = b'"allocatedResources":{"cpu":"1"},"resources":{"limits":{"ephemeral-storage":"200"}}'
    told = LIMITED[:-1] + b',"status":{"containerStatuses":[{"name":"c",%s}]}}' % granted
    assert limit_of(told, container(0, 150)) is None
    assert limit_of(told, container(0, 201)) is StorageLimit.CONTAINER
