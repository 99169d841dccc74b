from __future__ import annotations

import aiohttp
import pytest

from bailiff.embedded import Fault
from tests.unit.embedded.api import PODS, Client, pod

A = f"{PODS}/a"


async def test_the_next_matching_requests_fail(api: Client) -> None:
    fault = api.cluster.faults.fail(503, verb="create", resource="pods", times=2, retry_after=3)
    await api.get(PODS)
    for _ in range(2):
        reply = await api.send("POST", PODS, pod())
        assert (reply.status, reply.headers["retry-after"]) == (503, "3")
        assert reply.body["reason"] == "ServiceUnavailable"
    await api.post(PODS, pod())
    assert (fault.hits, fault.spent) == (2, True)


async def test_faults_last_until_cleared(api: Client) -> None:
    api.cluster.faults.fail(500, times=None, path="/pods/a$", body=b"not even JSON")
    for _ in range(3):
        assert (await api.send("GET", A)).raw == b"not even JSON"
    await api.post(PODS, pod())
    api.cluster.faults.clear()
    await api.get(A)


async def test_a_request_may_be_carried_out_and_its_answer_lost(api: Client) -> None:
    api.cluster.faults.fail(504, verb="create", after=True)
    assert (await api.refused("POST", PODS, pod()))["code"] == 504
    await api.get(A)
    api.cluster.faults.add(Fault(verb="patch", abort=True, after=True))
    with pytest.raises(aiohttp.ClientError):
        await api.send(
            "PATCH", A, {"metadata": {"labels": {"x": "1"}}}, type="application/merge-patch+json"
        )
    assert (await api.get(A))["metadata"]["labels"] == {"x": "1"}


async def test_a_delayed_request_is_answered_all_the_same(api: Client) -> None:
    fault = api.cluster.faults.add(Fault(resource="pods", delay=0.01))
    assert (await api.get(PODS))["kind"] == "PodList"
    assert fault.hits == 1


async def test_watches_can_be_dropped(api: Client) -> None:
    async with api.watch(PODS) as pods, api.watch("/api/v1/nodes") as nodes:
        assert api.cluster.faults.drop_watches("pods") == 1
        with pytest.raises((aiohttp.ClientError, AssertionError)):
            await pods.next()
        await api.post("/api/v1/nodes", {"metadata": {"name": "n"}})
        assert await nodes.take(1) == [("ADDED", "n")]


async def test_watches_can_be_told_that_they_are_too_old(api: Client) -> None:
    async with api.watch(PODS) as lines:
        assert api.cluster.faults.end_watches(expired=True) == 1
        event = await lines.next()
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
        assert await lines.ended()


async def test_requests_are_counted(api: Client) -> None:
    await api.post(PODS, pod())
    await api.get(A)
    calls = [(c.verb, c.resource, c.name) for c in api.cluster.faults.calls]
    assert calls == [("create", "pods", ""), ("get", "pods", "a")]
