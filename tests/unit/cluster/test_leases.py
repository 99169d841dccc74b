"""A Lease as bytes: what is read of it, and what is written back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from bailiff import cluster as k8s
from bailiff.cluster import LeaseRecord, LeaseStore
from tests.harness.scripted_server import kubeconfig, serving

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 1, 1, tzinfo=UTC)
FOUND = {
    "metadata": {"name": "l", "resourceVersion": "7", "uid": "u", "labels": {"team": "a"}},
    "spec": {"holderIdentity": "x", "leaseDurationSeconds": 15, "strategy": "Oldest"},
}


async def test_what_is_not_about_the_election_is_handed_back(tmp_path: Path) -> None:
    written = []

    async def answer(request: web.Request) -> web.Response:
        if request.method == "PUT":
            written.append(await request.json())
        return web.json_response(written[-1] if written else FOUND)

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        store = LeaseStore(cluster, "kube-system", "l")
        lease = await store.read()
        assert lease is not None
        assert lease.record == LeaseRecord(holder_identity="x", lease_duration_seconds=15)
        mine = LeaseRecord(
            holder_identity="y",
            lease_duration_seconds=15,
            acquire_time=AT,
            renew_time=AT,
            lease_transitions=1,
        )
        assert (await store.write(lease, mine)).record == mine
    assert written[0]["metadata"] == FOUND["metadata"]
    assert written[0]["spec"] == {
        "holderIdentity": "y",
        "leaseDurationSeconds": 15,
        # Six digits always: Go refuses a MicroTime with fewer.
        "acquireTime": "2026-01-01T00:00:00.000000Z",
        "renewTime": "2026-01-01T00:00:00.000000Z",
        "leaseTransitions": 1,
        "strategy": "Oldest",
    }


@pytest.mark.parametrize(
    ("spec", "record"),
    [
        (None, LeaseRecord()),
        ({}, LeaseRecord()),
        ({"holderIdentity": None, "renewTime": None}, LeaseRecord()),
        (
            {"renewTime": "2026-01-01T00:00:00.000000Z"},
            LeaseRecord(renew_time=AT),
        ),
    ],
)
async def test_fields_may_be_absent_or_null(
    tmp_path: Path, spec: object, record: LeaseRecord
) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"spec": spec})

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        lease = await LeaseStore(cluster, "n", "l").read()
    assert lease is not None
    assert lease.record == record


async def test_a_time_that_no_type_of_ours_has_keeps_nobody_out(tmp_path: Path) -> None:
    """The API server keeps the year 0."""
    spec = {"holderIdentity": "x", "renewTime": "0000-01-01T00:00:00.000000Z", "strategy": "Old"}

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"spec": spec})

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        lease = await LeaseStore(cluster, "n", "l").read()
    assert lease is not None
    assert (lease.record, lease.is_whole) == (LeaseRecord(holder_identity="x"), False)
    assert lease.object["spec"] == spec


async def test_no_lease_is_none(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=404)

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        assert await LeaseStore(cluster, "n", "l").read() is None


async def test_what_is_no_lease_is_a_cluster_error(tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=json.dumps({"spec": {"holderIdentity": 5}}))

    async with serving(answer) as port, await k8s.connect(kubeconfig(tmp_path, port)) as cluster:
        with pytest.raises(k8s.ResponseError, match=r"holderIdentity: Expected `str | null`"):
            await LeaseStore(cluster, "n", "l").read()
