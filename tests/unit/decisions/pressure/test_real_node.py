"""What a real kubelet was recorded to do (tests/real_node), asked again round by round.

The kubelet measures once more for itself when it decides, and answers with the node's part of that
for a moment: so what was available is the same to the byte, and what a container used may be that
of some seconds before.
"""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.pressure.facts import PressureFacts
from bailiff.decisions.pressure.questions import (
    PlanPressureRoundRequest,
    PlanPressureRoundResponse,
)
from bailiff.kinds import Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.kinds.stats import Summary

CASES = Path(__file__).parents[3] / "cases" / "real_node"
USED = re.compile(r"was using \w+,")


class Recording(NamedTuple):
    """One scene.

    Attributes:
        summaries: the first of each measurement, in order.
        pods: before anything happened, and at the end.
        events: reason, object and message of each.
    """

    configuration: KubeletConfiguration
    summaries: list[dict[str, Any]]
    pods: list[list[dict[str, Any]]]
    events: list[tuple[str, str, str]]
    node: dict[str, Any]


def recorded(scene: str) -> Recording:
    with gzip.open(CASES / f"{scene}.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]

    def of(kind: str) -> list[Any]:
        return [one["value"] for one in found if one["kind"] == kind]

    return Recording(
        msgspec.convert(of("configz")[0]["kubeletconfig"], KubeletConfiguration),
        of("summary"),
        [one["items"] for one in of("pods")],
        [
            (one["reason"], one["involvedObject"]["name"], one["message"])
            for one in of("events")[0]["items"]
        ],
        of("node")[-1],
    )


def rounds_of(recording: Recording) -> list[tuple[dict[str, Any], PlanPressureRoundResponse]]:
    """A round for each summary, each with the state of the one before, until somebody goes."""
    facts = PressureFacts(configuration=recording.configuration, kubelet_version="v1.37.1")
    pods = [msgspec.convert(one, Pod, strict=False) for one in recording.pods[0]]
    question = SYSTEMS.questions["planPressureRound"]
    answers = []
    for body in recording.summaries:
        summary = msgspec.convert(body, Summary)
        asked = PlanPressureRoundRequest(
            pressure=msgspec.structs.replace(facts, summary=summary), pods=tuple(pods)
        )
        now = datetime.fromisoformat(body["node"]["memory"]["time"]).astimezone(UTC)
        answer = question.ask(asked, now, Options())
        answers.append((body, answer))
        if answer.report.victims:
            return answers
        facts = msgspec.structs.replace(facts, state=answer.report.next)
    return answers


def evicted(recording: Recording) -> dict[str, str]:
    """The message by name of each pod that the kubelet has evicted."""
    return {
        pod["metadata"]["name"]: pod["status"]["message"]
        for pod in recording.pods[-1]
        if pod["status"].get("reason") == "Evicted"
    }


AVAILABLE = {
    "memory": lambda node: node["memory"]["availableBytes"],
    # A loop device of its own.
    "disk": lambda node: node["fs"]["availableBytes"],
}


@pytest.mark.parametrize("scene", AVAILABLE)
def test_the_same_pod_goes_in_the_same_round_with_the_same_words(scene):
    recording = recorded(scene)
    *before, (body, last) = rounds_of(recording)
    assert len(before) > 5
    (victim,) = last.report.victims
    ((name, message),) = evicted(recording).items()
    assert victim.pod.name == name
    assert USED.sub("", victim.message) == USED.sub("", message)
    assert f"available: {AVAILABLE[scene](body['node']) // 1024}Ki. " in message
    told = {reason for reason, about, _ in recording.events if about == "node"}
    assert {event.reason for event in last.report.events} <= told
    (held,) = [one for one in last.report.conditions if one.status == "True"]
    theirs = next(c for c in recording.node["status"]["conditions"] if c["type"] == held.type)
    assert (held.reason, held.message) == (theirs["reason"], theirs["message"])
    ((reason, _, told_of_pod),) = [one for one in recording.events if one[0] == "Evicted"]
    assert (reason, told_of_pod) == ("Evicted", message)


def test_local_storage_the_same_pods_go_for_limits_of_their_own():
    recording = recorded("storage")
    *_, (_, last) = rounds_of(recording)
    ours = {one.pod.name: one.message for one in last.report.victims}
    assert ours == evicted(recording)
    assert not any(one.annotations for one in last.report.victims)


@pytest.mark.parametrize("scene", ["memory", "disk", "storage"])
def test_before_that_nobody_goes(scene):
    *before, _ = rounds_of(recorded(scene))
    assert all(not answer.report.victims for _, answer in before)


def test_a_worker_of_ours_evicts_where_the_kubelet_s_own_thresholds_are_off():
    """Recorded, not run: what the API server had when Bailiff's worker watched that node."""
    with gzip.open(CASES / "bailiff.jsonl.gz", "rt") as lines:
        found = [json.loads(line) for line in lines]
    thresholds = next(one["value"] for one in found if one["kind"] == "configz")
    assert set(thresholds["kubeletconfig"]["evictionHard"].values()) == {"0%"}
    seen = [one["value"] for one in found if one["kind"] == "greedy"]
    (told,) = [one for one in seen[-1]["status"]["conditions"] if one["type"] == "DisruptionTarget"]
    assert told["reason"] == "TerminationByKubelet"
    assert seen[-1]["metadata"]["deletionGracePeriodSeconds"] == 1
    left = [one["value"]["items"] for one in found if one["kind"] == "pods"][-1]
    assert [(pod["metadata"]["name"], pod["status"]["phase"]) for pod in left] == [
        ("calm", "Running")
    ]
    node = next(one["value"] for one in found if one["kind"] == "node")
    conditions = {one["type"]: one["status"] for one in node["status"]["conditions"]}
    # The kubelet publishes, so nobody else does.
    assert conditions["MemoryPressure"] == "False"
