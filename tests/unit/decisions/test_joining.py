"""One answer out of several systems': a table, and what holds for all."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import Finding, TraceStep, Verdict, combine, join
from bailiff.decisions.device_taints import SYSTEM as DEVICES
from bailiff.decisions.instants import START_OF_TIME
from bailiff.decisions.node_taints import SYSTEM as NODES
from bailiff.kinds import ObjectMeta, Pod

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POD = Pod(metadata=ObjectMeta(name="a", namespace="default", uid="1"))


def finding(system: str, at: int | None, verdict: Verdict = Verdict.EVICT_AT) -> Finding:
    """One of a system; `at` is in seconds from NOW."""
    return Finding(
        system=system,
        verdict=verdict,
        reason=f"{system}Says",
        message=f"{system} says {verdict}",
        evict_at=None if at is None else NOW + timedelta(seconds=at),
        trace=(TraceStep(rule=system, outcome=verdict, message=""),),
    )


def keep(system: str) -> Finding:
    return finding(system, None, Verdict.KEEP)


def now(system: str, at: int | None = None) -> Finding:
    return finding(system, at, Verdict.EVICT_NOW)


@pytest.mark.parametrize(
    ("node", "device", "wins", "told"),
    [
        (keep(NODES), keep(DEVICES), NODES, "node-taints says KEEP; device-taints says KEEP"),
        (keep(NODES), finding(DEVICES, 5), DEVICES, "device-taints says EVICT_AT"),
        (finding(NODES, 5), keep(DEVICES), NODES, "node-taints says EVICT_AT"),
        (
            finding(NODES, 5),
            finding(DEVICES, 6),
            NODES,
            "node-taints says EVICT_AT; device-taints says EVICT_AT",
        ),
        (
            finding(NODES, 6),
            finding(DEVICES, 5),
            DEVICES,
            "device-taints says EVICT_AT; node-taints says EVICT_AT",
        ),
        (
            finding(NODES, 5),
            now(DEVICES, -5),
            DEVICES,
            "device-taints says EVICT_NOW; node-taints says EVICT_AT",
        ),
        (now(NODES), now(DEVICES, -5), NODES, "node-taints says EVICT_NOW; device-taints says "),
        (now(NODES, -4), now(DEVICES, -5), DEVICES, "device-taints says EVICT_NOW; node-taints "),
    ],
)
def test_the_earliest_wins_and_both_reasons_are_told(node, device, wins, told):
    joined = join((node, device))
    assert joined.system == wins
    assert joined.message.startswith(told)
    assert {step.rule for step in joined.trace} == {NODES, DEVICES}
    assert joined.trace[0].rule == wins


# Long before 1970, whose seconds are negative, and as early as can be written.
ANCIENT, FIRST = -60 * 365 * 24 * 3600, round((START_OF_TIME - NOW).total_seconds())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (now(DEVICES, ANCIENT), now(NODES, -5)),
        (now(DEVICES, ANCIENT - 1), now(NODES, ANCIENT)),
        (now(DEVICES, FIRST), now(NODES, ANCIENT)),
        (now(DEVICES), now(NODES, ANCIENT)),
        (finding(DEVICES, ANCIENT - 1), finding(NODES, ANCIENT)),
    ],
)
def test_instants_before_1970_are_ordered_like_all_others(earlier, later):
    for findings in ((earlier, later), (later, earlier)):
        assert join(findings).system == DEVICES
        assert combine(POD, "n1", findings, NOW).decided_by == DEVICES


def test_what_both_say_alike_is_said_once():
    node = Finding(system=NODES, verdict=Verdict.KEEP, reason="PodFinished", message="has ended")
    device = Finding(
        system=DEVICES, verdict=Verdict.KEEP, reason="PodFinished", message="has ended"
    )
    assert join((node, device)) == node


verdicts = st.one_of(
    st.just((Verdict.KEEP, None)),
    st.tuples(st.just(Verdict.EVICT_NOW), st.one_of(st.none(), st.integers(-1000, 0))),
    st.tuples(st.just(Verdict.EVICT_AT), st.integers(1, 1000)),
)


@given(verdicts, verdicts)
def test_the_worker_and_the_api_name_the_same_verdict_and_deadline(node, device):
    findings = finding(NODES, node[1], node[0]), finding(DEVICES, device[1], device[0])
    joined, combined = join(findings), combine(POD, "n1", findings, NOW)
    assert (joined.verdict, joined.evict_at) == (combined.verdict, combined.evict_at)
    assert joined.reason == combined.reason
    # Never later than either, and KEEP only if both keep.
    for one in findings:
        if one.verdict is not Verdict.KEEP:
            assert joined.verdict is not Verdict.KEEP
            assert (joined.evict_at or NOW) <= (one.evict_at or NOW) or joined.evict_at is None
