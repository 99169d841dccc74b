"""Events about weakened policies: on which object, how often they are tried, how many wait."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from prometheus_client import CollectorRegistry

from bailiff.actions.event_bodies import Regarding
from bailiff.cluster import AlreadyExistsError, FencedError, UnreachableError
from bailiff.worker.policy.news import EventWriter, PolicyNews
from tests.harness.clocks import LoopClock

pytestmark = pytest.mark.looptime(start=0)

LEASE = Regarding(
    api_version="coordination.k8s.io/v1", kind="Lease", name="w-0-of-1", namespace="ops", uid="u"
)
NAMESPACE = Regarding(api_version="v1", kind="Namespace", name="kube-system")


class Server:
    """Takes Events, or fails as told."""

    def __init__(self, *failures) -> None:
        self.failures = list(failures)
        self.created: list[tuple[str, dict]] = []
        self.tried: list[str] = []

    async def create(self, resource, body, namespace, *, dry_run):
        assert (resource.plural, dry_run) == ("events", False)
        self.tried.append(body["metadata"]["name"])
        if self.failures:
            raise self.failures.pop(0)
        self.created.append((namespace, body))


@contextlib.asynccontextmanager
async def telling(server, about=LEASE):
    writer = EventWriter(server, "host", lambda: about)
    news = PolicyNews(LoopClock(), CollectorRegistry(), writer)
    task = asyncio.create_task(news.run())
    yield news
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_an_event_is_about_the_lease():
    server = Server()
    async with telling(server) as news:
        news.weakened(["protection: switched off"], "policies.yaml")
        await asyncio.sleep(1)
    ((namespace, body),) = server.created
    assert namespace == body["metadata"]["namespace"] == "ops"
    assert body["involvedObject"] == {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "name": "w-0-of-1",
        "namespace": "ops",
        "uid": "u",
    }
    assert (body["type"], body["reason"]) == ("Warning", "PoliciesWeakened")
    assert (
        body["message"] == "1 of the policies of policies.yaml weakened: protection: switched off"
    )
    assert body["metadata"]["name"].startswith("w-0-of-1.")


async def test_an_event_about_a_namespace_lives_in_the_default_one():
    server = Server()
    async with telling(server, NAMESPACE) as news:
        news.weakened(["x"], "f")
        await asyncio.sleep(1)
    ((namespace, body),) = server.created
    assert namespace == "default"
    assert body["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "name": "kube-system",
    }


@pytest.mark.parametrize(
    ("failures", "tries", "created"),
    [
        ([UnreachableError("down")] * 2, 3, 1),
        ([UnreachableError("down")] * 9, 5, 0),
        # Another worker acts, and tells.
        ([FencedError("another")], 1, 0),
        # An earlier try whose answer was lost.
        ([UnreachableError("lost"), AlreadyExistsError("there")], 2, 0),
    ],
)
async def test_it_is_tried_a_few_times_by_one_name(failures, tries, created):
    server = Server(*failures)
    async with telling(server) as news:
        news.weakened(["x"], "f")
        await asyncio.sleep(100)
        assert (len(server.tried), len(server.created)) == (tries, created)
        assert len(set(server.tried)) == 1
        # What comes after is told all the same.
        server.failures.clear()
        news.weakened(["y"], "f")
        await asyncio.sleep(1)
        assert len(server.created) == created + 1


async def test_without_a_lease_of_its_own_a_worker_writes_nothing():
    server = Server()
    async with telling(server, None) as news:
        news.weakened(["x"], "f")
        await asyncio.sleep(1)
    assert server.tried == []


async def test_many_wait_no_longer_than_there_is_room_and_messages_are_cut():
    server = Server()
    async with telling(server) as news:
        for _ in range(1000):
            news.weakened(["x" * 5000], "f")
        await asyncio.sleep(1)
    assert len(server.created) == 100
    assert len(server.created[0][1]["message"]) == 1024
