"""The rules in their order, as docs/node-loss/index.md tells them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.decisions.node_loss.scene import (
    DB,
    JUST_NOW,
    LIVES,
    LONG_AGO,
    OFF,
    OUT_OF_SERVICE,
    WELL,
    Asked,
    a_pod,
    at,
    ending,
    with_claim,
)

GUIDE = (Path(__file__).parents[4] / "docs" / "node-loss" / "index.md").read_text()
UNREACHABLE = "node.kubernetes.io/unreachable:NoExecute"

CASES = [
    # What is judged, whom, and what is said.
    pytest.param(Asked(), a_pod(), "EVICT_NOW NodeLost", id="its time is over"),
    pytest.param(Asked(since=JUST_NOW), a_pod(), "EVICT_AT NodeLost", id="it is not"),
    pytest.param(Asked(ready="False"), a_pod(), "EVICT_NOW NodeLost", id="its kubelet says so"),
    pytest.param(Asked(ready=""), a_pod(), "EVICT_AT NodeLost", id="it has never said anything"),
    pytest.param(Asked(ready="True"), a_pod(), "KEEP NodeReady", id="it is ready"),
    pytest.param(
        Asked(ready="True", facts={"lease": {"spec": {"renewTime": at(LONG_AGO)}}}),
        a_pod(),
        "EVICT_NOW NodeLost",
        id="ready by its condition, and silent by its Lease",
    ),
    pytest.param(
        Asked(facts={"lease": LIVES}), a_pod(), "KEEP LeaseRenewed", id="its Lease is renewed"
    ),
    pytest.param(
        Asked(ready="False", facts={"lease": LIVES}),
        a_pod(),
        "EVICT_NOW NodeLost",
        id="its kubelet lives, and says that it is not ready",
    ),
    pytest.param(
        Asked(ready="True", facts={"lease": LIVES, "lostSince": at(LONG_AGO)}),
        a_pod(),
        "KEEP NodeReady",
        id="known as lost before, and its Lease is renewed",
    ),
    pytest.param(
        Asked(facts={"lease": LIVES, "lostSince": at(LONG_AGO)}),
        a_pod(),
        "KEEP LeaseRenewed",
        id="so it is where its condition is Unknown",
    ),
    pytest.param(
        Asked(ready="True", facts={"lostSince": at(LONG_AGO)}),
        a_pod(),
        "EVICT_NOW NodeLost",
        id="known as lost by whoever asks",
    ),
    pytest.param(
        Asked(ready="True", facts={"lease": LIVES, "lives": False, "lostSince": at(LONG_AGO)}),
        a_pod(),
        "EVICT_NOW NodeLost",
        id="its clock is ahead, and whoever watches it knows that it is silent",
    ),
    pytest.param(Asked(facts={"lives": True}), a_pod(), "KEEP LeaseRenewed", id="known to live"),
    pytest.param(
        Asked(ready="False", facts={"lives": True, "proof": OFF, "lostSince": at(LONG_AGO)}),
        DB,
        "KEEP Contradiction",
        id="off, and known to live",
    ),
    pytest.param(
        Asked(taints=(OUT_OF_SERVICE.replace(":", "=bailiff:"),)),
        ending(DB),
        "KEEP Stuck",
        id="the taint of a worker proves nothing",
    ),
    pytest.param(
        Asked(),
        a_pod(metadata={"annotations": {"kubernetes.io/config.mirror": "x"}}),
        "KEEP MirrorPod",
        id="a static pod",
    ),
    pytest.param(Asked(), a_pod(owner="DaemonSet"), "KEEP DaemonSetPod", id="of a DaemonSet"),
    pytest.param(
        Asked(taints=(UNREACHABLE,)), a_pod(), "KEEP LeftToTaints", id="taints evict from it"
    ),
    pytest.param(
        Asked(taints=(UNREACHABLE,), facts={"settings": {"besideTaints": True}}),
        a_pod(),
        "EVICT_NOW NodeLost",
        id="taints evict, and it is to act beside them",
    ),
    pytest.param(
        Asked(facts={"zones": [{"name": "a", "notReady": 3}]}),
        a_pod(),
        "KEEP AllZonesDown",
        id="no zone has a ready node",
    ),
    pytest.param(
        Asked(facts={"zones": [{"name": "a", "notReady": 3}, {"name": "b", "ready": 3}]}),
        a_pod(),
        "KEEP ZoneDown",
        id="its zone has none",
    ),
    pytest.param(
        Asked(facts={"zones": [{"name": "a", "ready": 2, "notReady": 3}]}),
        a_pod(),
        "KEEP ZoneStopped",
        id="too many of a small zone",
    ),
    pytest.param(
        Asked(facts={"zones": WELL, "settings": {"rate": 0}}),
        a_pod(),
        "KEEP ZoneStopped",
        id="a rate of 0",
    ),
    pytest.param(
        Asked(facts={"zones": WELL, "released": False}),
        a_pod(),
        "KEEP WaitsForItsTurn",
        id="its turn has not come",
    ),
    pytest.param(
        Asked(since=JUST_NOW, facts={"zones": WELL, "released": False}),
        a_pod(),
        "KEEP WaitsForItsTurn",
        id="nor its time",
    ),
    pytest.param(
        Asked(facts={"zones": WELL, "released": True}), a_pod(), "EVICT_NOW NodeLost", id="it has"
    ),
    pytest.param(Asked(facts={"proof": OFF}), DB, "EVICT_NOW NodeOff", id="proven off by a fence"),
    pytest.param(Asked(taints=(OUT_OF_SERVICE,)), DB, "EVICT_NOW NodeOff", id="by a taint"),
    pytest.param(
        Asked(since=JUST_NOW, facts={"proof": OFF}),
        DB,
        "EVICT_AT NodeLost",
        id="proven off before its time is over",
    ),
    pytest.param(
        Asked(facts={"proof": OFF, "settings": {"forces": False}}),
        DB,
        "EVICT_NOW NodeLost",
        id="proven off, and nobody is to be forced",
    ),
    pytest.param(
        Asked(ready="False", facts={"proof": OFF, "lease": LIVES}),
        a_pod(),
        "KEEP Contradiction",
        id="off, and alive",
    ),
    pytest.param(
        Asked(ready="False", taints=(OUT_OF_SERVICE,), facts={"lease": LIVES}),
        ending(DB),
        "KEEP PodTerminating",
        id="off by a taint, and alive: nobody is forced",
    ),
    pytest.param(
        Asked(facts={"contradiction": "why"}), a_pod(), "KEEP Contradiction", id="as it was told"
    ),
    pytest.param(Asked(), ending(DB), "KEEP Stuck", id="deleted, and stuck"),
    pytest.param(Asked(), ending(DB, over=False), "KEEP PodTerminating", id="it has time to end"),
    pytest.param(Asked(), ending(a_pod()), "KEEP PodTerminating", id="it may run twice"),
    pytest.param(
        Asked(ready="True"), ending(DB), "KEEP PodTerminating", id="deleted on a node that is well"
    ),
    pytest.param(
        Asked(facts={"proof": OFF}), ending(DB), "EVICT_NOW NodeOff", id="deleted, and off"
    ),
    pytest.param(
        Asked(since=JUST_NOW, facts={"proof": OFF}),
        ending(a_pod()),
        "EVICT_NOW NodeOff",
        id="deleted, off, and its node not lost for long",
    ),
    pytest.param(Asked(), with_claim("files", "disk"), "EVICT_NOW NodeLost", id="with a claim"),
    pytest.param(
        Asked(), ending(with_claim("files", "disk")), "KEEP Stuck", id="deleted, with a claim"
    ),
]


@pytest.mark.parametrize(("asked", "pod", "said"), CASES)
def test_each_rule(asked, pod, said):
    found = asked.of(pod)
    assert f"{found.verdict.value} {found.reason}" == said


GUIDE_ROWS = re.findall(r"^\| .+? \| `(\w+)` \| (?:KEEP|EVICT)", GUIDE, re.MULTILINE)


def test_the_guide_has_every_reason():
    assert {str(case.values[2]).split()[1] for case in CASES} == set(GUIDE_ROWS)


def test_the_guide_has_them_in_the_order_in_which_they_count():
    """All hold at first; what the first says is then taken away, and the next is heard."""
    lost = {"lease": LIVES, "proof": OFF, "released": False}
    down = [{"name": "a", "notReady": 3}]
    mirror = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    doubted = Asked(ready="False", taints=(UNREACHABLE,), facts=lost | {"zones": down})
    silent = {"proof": OFF, "released": False}
    told = [
        (doubted, ending(a_pod(owner="DaemonSet", metadata=mirror))),
        (doubted, ending(a_pod(owner="DaemonSet"))),
        (doubted, ending(DB)),
        (Asked(taints=(UNREACHABLE,), facts=silent | {"zones": down}), ending(DB)),
        (Asked(taints=(UNREACHABLE,), facts={"zones": down, "released": False}), ending(DB)),
        (Asked(facts={"zones": down, "released": False}), ending(DB, over=False)),
        (Asked(ready="True", taints=(UNREACHABLE,), facts=lost | {"zones": down}), DB),
        (Asked(taints=(UNREACHABLE,), facts=lost | {"zones": down}), DB),
        (doubted, DB),
        (Asked(taints=(UNREACHABLE,), facts=silent | {"zones": down}), DB),
        (Asked(facts=silent | {"zones": down}), DB),
        (Asked(facts=silent | {"zones": [*down, {"name": "b", "ready": 3}]}), DB),
        (Asked(facts=silent | {"zones": [{"name": "a", "ready": 2, "notReady": 3}]}), DB),
        (Asked(facts=silent | {"zones": WELL}), DB),
        (Asked(facts={"proof": OFF, "zones": WELL}), DB),
        (Asked(facts={"zones": WELL}), DB),
        (Asked(since=JUST_NOW, facts={"zones": WELL}), DB),
    ]
    assert [asked.of(pod).reason for asked, pod in told] == GUIDE_ROWS
