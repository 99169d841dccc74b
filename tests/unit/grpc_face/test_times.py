"""Instants of answers are such as google.protobuf.Timestamp may hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bailiff.v1 import eviction_decision_service_pb2
from tests.harness.faces.grpc_face import Face

pb: Any = eviction_decision_service_pb2


@pytest.mark.parametrize(
    ("written", "answered"),
    [
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"),
    ],
)
async def test_times_of_a_summary_at_the_ends_of_time(
    face: Face, written: str, answered: str
) -> None:
    summary = {"node": {"memory": {"time": written, "availableBytes": 5, "workingSetBytes": 5}}}
    asked = pb.PlanPressureRoundRequest(
        pressure={"summary": {"raw": json.dumps(summary).encode()}},
    )
    data = await face.raw("PlanPressureRound")(asked.SerializeToString())
    answer = pb.PlanPressureRoundResponse.FromString(data)
    assert answer.report.next.signals[0].time.ToJsonString() == answered
