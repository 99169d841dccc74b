"""Random extender bodies: an answer or a refusal, never a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.asgi import call
from tests.harness.faces.rest_face import CLOCK
from tests.harness.fuzzing import fuzzed
from tests.harness.kinds import no_execute, node_of
from tests.harness.lookups import DictSource

pytestmark = pytest.mark.schema

NAMES = st.sampled_from(["node-1", "node-2", "gone", "", "\ud7ff", "n" * 300])
WORDS = st.sampled_from(["", "NoSchedule", "NoExecute", "PreferNoSchedule", "Exists", "k", "\x00"])
ODD: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.just([]) | st.just({})
)
TIMES = st.sampled_from(["2026-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])


def either(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What is usual there, and now and then anything else."""
    return st.integers(0, 20).flatmap(lambda drawn: ODD if drawn == 0 else usual)


def struct(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return either(st.fixed_dictionaries({}, optional={n: either(s) for n, s in fields.items()}))


def lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(items, max_size=4)


TAINTS = lists(struct(key=WORDS, value=WORDS, effect=WORDS, timeAdded=TIMES))
TOLERATIONS = lists(
    struct(key=WORDS, operator=WORDS, effect=WORDS, tolerationSeconds=st.integers(-(2**63), 2**63))
)
PODS = struct(
    metadata=struct(name=NAMES, uid=WORDS),
    spec=struct(tolerations=TOLERATIONS, nodeName=NAMES),
    status=struct(phase=st.sampled_from(["Running", "Failed"])),
)
NODES = struct(
    metadata=struct(name=NAMES, annotations=st.dictionaries(WORDS, WORDS, max_size=2)),
    spec=struct(taints=TAINTS, unschedulable=st.booleans()),
    status=struct(conditions=lists(struct(type=st.just("MemoryPressure"), status=WORDS))),
)
ARGS = struct(Pod=PODS, Nodes=struct(items=lists(NODES)), NodeNames=lists(NAMES))
NUMBER = st.integers(-(2**64), 2**64)
VICTIMS = struct(Pods=lists(PODS), NumPDBViolations=NUMBER)
META_VICTIMS = struct(Pods=lists(struct(UID=WORDS)), NumPDBViolations=NUMBER)
PREEMPTION = struct(
    Pod=PODS,
    NodeNameToVictims=st.dictionaries(NAMES, VICTIMS, max_size=3),
    NodeNameToMetaVictims=st.dictionaries(NAMES, META_VICTIMS, max_size=3),
)
BODIES = {"filter": ARGS, "prioritize": ARGS, "preempt": PREEMPTION}
SOURCE = DictSource.of(node_of("node-1"), node_of("node-2", no_execute("k")))


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app(RestSettings(), CLOCK, CollectorRegistry(), Options(), SOURCE)


@pytest.mark.parametrize("verb", BODIES)
@settings(fuzzed(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_bodies_of_the_shape(app: FastAPI, verb: str, data: st.DataObject) -> None:
    body = json.dumps(data.draw(BODIES[verb])).encode()
    answer = await call(app, "POST", f"/scheduler/extender/v1/{verb}", body)
    assert answer.status in (200, 400), (body, answer)


@pytest.mark.parametrize("verb", BODIES)
@settings(fuzzed(400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_bytes(app: FastAPI, verb: str, data: st.DataObject) -> None:
    body = bytearray(json.dumps(data.draw(BODIES[verb])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body)))
        body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    answer = await call(app, "POST", f"/scheduler/extender/v1/{verb}", bytes(body))
    assert answer.status in (200, 400), (body, answer)
