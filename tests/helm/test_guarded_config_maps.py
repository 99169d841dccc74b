"""Who may change the worker's policies and its pause: not everybody who may edit ConfigMaps."""

from __future__ import annotations

import contextlib

import pytest

from bailiff.cluster import (
    AdmissionDeniedError,
    NotFoundError,
    PatchType,
    Request,
    connect,
)
from tests.harness.helm.accounts import PersonRights, log_in, person
from tests.harness.helm.admission import admission_in_force
from tests.harness.helm.chart import render, the
from tests.harness.pausing import WHOLE

pytestmark = [pytest.mark.helm, pytest.mark.kube_apiserver]

POLICIES, PAUSE, OTHER = "bailiff-worker-policies", "bailiff-pause", "somebody-elses"
COUNTS = "bailiff-evictions"
VERBS = ("create", "update", "delete")
EDIT: PersonRights = ("", "configmaps", (*VERBS, "get", "list", "patch", "deletecollection"))
PAUSES: PersonRights = ("bailiff.dev", "pauses", VERBS)
RULES: PersonRights = ("bailiff.dev", "policies", VERBS)
COUNTING: PersonRights = ("bailiff.dev", "counts", VERBS)


@pytest.fixture
async def guarded(kube_apiserver, bench):
    """The chart's policies in force, and the ConfigMaps that they guard."""
    place = {"namespace": bench.namespace}
    budgets = [{"name": "all", "evictions": 1, "seconds": 60}]
    policies = {"pause": place, "overTime": {"store": place, "budgets": budgets}}
    values = {"worker": {"policies": policies}}
    path = await log_in(kube_apiserver, "worker", bench.namespace, values=values)
    async with admission_in_force(kube_apiserver, path, bench.namespace, values):
        objects = render(values=values, namespace=bench.namespace)
        made = the(objects, "ConfigMap", "worker", "-policies")
        await bench.cluster.create(WHOLE, made, bench.namespace)
        for name in (PAUSE, OTHER, COUNTS):
            await bench.cluster.create(WHOLE, {"metadata": {"name": name}}, bench.namespace)
        yield bench


async def writes(server, bench, *rights):
    """Which of the ConfigMaps somebody with such rights may change, make anew, and delete."""
    found = set()
    async with await connect(await person(server, bench.namespace, *rights)) as own:
        for name in (POLICIES, PAUSE, OTHER, COUNTS):
            for verb in ("update", "delete", "create"):
                with contextlib.suppress(AdmissionDeniedError):
                    await act(own, bench, verb, name)
                    found.add((verb, name))
    return found


async def act(own, bench, verb, name):
    where = bench.namespace
    if verb == "update":
        await own.patch(WHOLE, name, where, {"data": {"a": "b"}}, dry_run=True)
    elif verb == "delete":
        await own.delete(WHOLE, name, where, dry_run=True)
    else:
        # It has to be away to be made.
        with contextlib.suppress(NotFoundError):
            await bench.cluster.delete(WHOLE, name, where)
        try:
            await own.create(WHOLE, {"metadata": {"name": name}}, where, dry_run=True)
        finally:
            await bench.cluster.create(WHOLE, {"metadata": {"name": name}}, where)


def every(*names):
    return {(verb, name) for verb in VERBS for name in names}


async def test_who_may_edit_config_maps_may_change_neither_policies_nor_pause(
    kube_apiserver, guarded
):
    assert await writes(kube_apiserver, guarded, EDIT) == every(OTHER)


async def test_each_of_them_is_a_right_of_its_own(kube_apiserver, guarded):
    assert await writes(kube_apiserver, guarded, EDIT, PAUSES) == every(OTHER, PAUSE)
    assert await writes(kube_apiserver, guarded, EDIT, RULES) == every(OTHER, POLICIES)
    assert await writes(kube_apiserver, guarded, EDIT, COUNTING) == every(OTHER, COUNTS)


async def test_who_counts_may_write_the_counts(kube_apiserver, guarded):
    account = kube_apiserver.folder / f"worker-{guarded.namespace}.kubeconfig"
    async with await connect(account) as own:
        body = {"data": {"a": "b"}}
        await own.patch(WHOLE, COUNTS, guarded.namespace, body, patch_type=PatchType.MERGE)


async def test_all_at_once_are_deleted_as_little_as_one_by_one(kube_apiserver, guarded):
    path = await person(kube_apiserver, guarded.namespace, EDIT)
    async with await connect(path) as own:
        with pytest.raises(AdmissionDeniedError, match=r"(policies|pauses|counts) \(bailiff.dev\)"):
            await own.send(Request("DELETE", WHOLE.path(guarded.namespace)))
    left = await guarded.cluster.list(WHOLE, namespace=guarded.namespace)
    assert {POLICIES, PAUSE, COUNTS} <= {found["metadata"]["name"] for found in left.items}


async def test_what_is_lacking_is_named(kube_apiserver, guarded):
    path = await person(kube_apiserver, guarded.namespace, EDIT)
    async with await connect(path) as own:
        with pytest.raises(AdmissionDeniedError) as refused:
            await own.patch(WHOLE, PAUSE, guarded.namespace, {"data": {"paused": "x"}})
    wanted = f"needs the right to update pauses (bailiff.dev) in namespace {guarded.namespace}"
    assert wanted in str(refused.value)
