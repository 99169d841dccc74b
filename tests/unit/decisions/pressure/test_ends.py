"""Numbers and instants at their ends: an answer that every face can write, or a clear error."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import SYSTEMS, FactsError, Options
from bailiff.decisions.pressure.percentage import parse_percentage
from bailiff.decisions.pressure.versions import minor_of, told_version
from bailiff.kinds import DecodeError, decode

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
ROUND = SYSTEMS.questions["planPressureRound"]
MOST = 2**63 - 1


def said(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")


INSTANTS = st.sampled_from([FIRST, NOW, LAST])
NUMBERS = st.sampled_from([0, 1, 2**31, MOST - 1, MOST])
QUANTITIES = st.sampled_from(["0", "1", "-9E", "9E", "-1", "1n", "8Ei"])
TEXTS = INSTANTS.map(said)
PERIODS = st.sampled_from(["0s", "1ns", "1m", "2562047h"])
DISK = st.fixed_dictionaries(
    {
        "time": TEXTS,
        "availableBytes": NUMBERS,
        "capacityBytes": NUMBERS,
        "usedBytes": NUMBERS,
        "inodes": NUMBERS,
        "inodesFree": NUMBERS,
        "inodesUsed": NUMBERS,
    }
)
PSI = st.fixed_dictionaries({"some": st.fixed_dictionaries({"avg10": st.sampled_from([0, 1e308])})})
MEMORY = st.fixed_dictionaries(
    {
        "time": TEXTS,
        "availableBytes": NUMBERS,
        "workingSetBytes": NUMBERS,
        "rssBytes": NUMBERS,
        "psi": PSI,
    }
)
SWAP = st.fixed_dictionaries({"swapAvailableBytes": NUMBERS, "swapUsageBytes": NUMBERS})
SUMMARY = st.fixed_dictionaries(
    {
        "node": st.fixed_dictionaries(
            {
                "memory": MEMORY,
                "fs": DISK,
                "swap": SWAP,
                "rlimit": st.fixed_dictionaries({"maxpid": NUMBERS, "curproc": NUMBERS}),
                "systemContainers": st.tuples(
                    st.fixed_dictionaries({"name": st.just("pods"), "memory": MEMORY})
                ),
            }
        ),
        "pods": st.tuples(
            st.fixed_dictionaries(
                {
                    "podRef": st.just({"uid": "u"}),
                    "memory": MEMORY,
                    "swap": SWAP,
                    "containers": st.tuples(
                        st.fixed_dictionaries({"name": st.just("c"), "rootfs": DISK, "logs": DISK})
                    ),
                    "process_stats": st.fixed_dictionaries({"process_count": NUMBERS}),
                }
            )
        ),
    }
)
CONTAINER = st.fixed_dictionaries(
    {
        "name": st.just("c"),
        "resources": st.fixed_dictionaries(
            {
                "requests": st.fixed_dictionaries(
                    {"memory": QUANTITIES, "ephemeral-storage": QUANTITIES}
                )
            }
        ),
    }
)
POD = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"uid": st.just("u"), "name": st.just("a")}, optional={"deletionTimestamp": TEXTS}
        ),
        "spec": st.fixed_dictionaries({"containers": st.lists(CONTAINER, max_size=2)}),
    }
)
SIGNALS = ("memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available")
AMOUNTS = st.dictionaries(
    st.sampled_from(SIGNALS), st.sampled_from(["1", "8E", "50%", "99.99999%"]), max_size=2
)
CONFIGURATION = st.fixed_dictionaries(
    {
        "evictionHard": AMOUNTS,
        "evictionSoft": AMOUNTS,
        "evictionSoftGracePeriod": st.fixed_dictionaries(dict.fromkeys(SIGNALS, PERIODS)),
        "evictionMinimumReclaim": AMOUNTS,
        "evictionPressureTransitionPeriod": PERIODS,
    }
)
STATE = st.fixed_dictionaries(
    {
        "started": st.booleans(),
        "thresholds": st.lists(
            st.fixed_dictionaries(
                {
                    "threshold": st.just(
                        {"signal": "memory.available", "value": {"quantity": "1"}}
                    ),
                    "firstObservedAt": TEXTS,
                    "actedUpon": st.booleans(),
                }
            ),
            max_size=1,
        ),
        "conditions": st.lists(
            st.fixed_dictionaries({"type": st.just("MemoryPressure"), "lastObservedAt": TEXTS}),
            max_size=1,
        ),
        "lastEvictionAt": TEXTS,
    }
)
EXTENSIONS = st.fixed_dictionaries(
    {},
    optional={
        "evictionHard": st.just({"swap.available": "10%", "memory.psi.some": "50%"}),
        "stopAt": AMOUNTS,
        "releaseTarget": st.just({}),
        "coolDown": PERIODS,
        "memoryInUse": st.just("RSS"),
        "subtractHugePages": st.just(value=True),
    },
)
PRESSURE = st.fixed_dictionaries(
    {
        "summary": SUMMARY,
        "configuration": CONFIGURATION,
        "kubeletVersion": st.just("v1.36.0"),
        "hugePagesBytes": NUMBERS,
        "state": STATE,
        "extensions": EXTENSIONS,
    }
)


def ask(pressure: object, pods: object = (), now: datetime = NOW) -> Any:
    body = json.dumps({"pods": pods, "pressure": pressure}).encode()
    return ROUND.ask(decode(body, ROUND.facts), now, Options())


@given(PRESSURE, POD, INSTANTS)
def test_whatever_stands_at_the_ends_the_answer_keeps_to_its_own_bounds(
    pressure: Any, pod: Any, now: datetime
) -> None:
    """Its types bound it, and Protobuf has no greater numbers and no other instants."""
    answer = ask(pressure, [pod], now)
    msgspec.json.decode(msgspec.json.encode(answer), type=type(answer))


# A node that is short, and what is measured of its pod.
SHORT = {
    "node": {"memory": {"availableBytes": 1, "workingSetBytes": 2**31}},
    "pods": [{"podRef": {"uid": "u"}, "memory": {"workingSetBytes": 2**30}}],
}
FULL_DISK = {
    "node": {"fs": {"availableBytes": 1, "capacityBytes": 1000}},
    "pods": [
        {
            "podRef": {"uid": "u"},
            "containers": [
                {"name": "c", "rootfs": {"usedBytes": MOST}, "logs": {"usedBytes": MOST}}
            ],
        }
    ],
}
ALL = {"availableBytes": MOST, "workingSetBytes": MOST, "rssBytes": MOST}
SOFT = {
    "evictionHard": {},
    "evictionSoft": {"memory.available": "1Gi"},
    "evictionSoftGracePeriod": {"memory.available": "1m"},
}
RELEASING: dict[str, Any] = {"summary": SHORT, "extensions": {"releaseTarget": {}}}


def pod(*requests: str, **metadata: str) -> dict[str, Any]:
    containers = [
        {"name": "c", "resources": {"requests": {"memory": request}}} for request in requests
    ]
    return {"metadata": {"name": "a", "uid": "u"} | metadata, "spec": {"containers": containers}}


@pytest.mark.parametrize(
    ("pressure", "of", "now"),
    [
        ({"summary": FULL_DISK}, pod(), NOW),
        ({"summary": SHORT}, pod("-9E", "-9E"), NOW),
        ({"summary": {"node": {"memory": ALL}}, "extensions": {"memoryInUse": "RSS"}}, pod(), NOW),
        ({"summary": SHORT, "configuration": SOFT}, pod(), LAST),
        (RELEASING, pod(deletionTimestamp=said(FIRST)), NOW),
        (RELEASING, pod(deletionTimestamp=said(LAST)), LAST),
    ],
    ids=["usage", "requests", "anonymous memory", "grace period", "long gone", "ends last"],
)
def test_these_ends_are_answered(pressure: Any, of: dict[str, Any], now: datetime) -> None:
    answer = ask(pressure, [of], now)
    msgspec.json.decode(msgspec.json.encode(answer), type=type(answer))


QUANTITY = {"threshold": {"signal": "memory.available", "value": {"quantity": "5Mi\n"}}}
OBSERVED = {"firstObservedAt": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"kubeletVersion": "v1.²"}, "$.pressure.kubeletVersion"),
        ({"kubeletVersion": "latest"}, "$.pressure.kubeletVersion"),
        (
            {"configuration": {"evictionHard": {"memory.available": "0xfffffffffffffffffffp999%"}}},
            '$.pressure.configuration.evictionHard["memory.available"]',
        ),
        (
            {"state": {"thresholds": [QUANTITY | OBSERVED]}},
            "$.pressure.state.thresholds[0].threshold.value.quantity",
        ),
    ],
    ids=["superscript", "no version", "beyond a float64", "line break"],
)
def test_what_reads_like_a_number_and_is_none_is_refused_with_its_path(
    wrong: dict[str, Any], path: str
) -> None:
    try:
        ask({"summary": {}} | wrong)
    except (DecodeError, FactsError) as error:
        assert error.path == path  # noqa: PT017 - the two have no base with a path
    else:
        pytest.fail("it was answered")


@pytest.mark.parametrize("text", ["0xfffffffffffffffffffp999%", "1e999%", "-0x1p999%"])
def test_a_percentage_that_no_float_holds_is_no_percentage(text: str) -> None:
    with pytest.raises(ValueError, match="must be a percentage"):
        parse_percentage(text)


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        ("v1.37.1", 37),
        ("v1.37+", 37),
        ("1.36", 36),
        ("v1.36+", 36),
        ("v1.29.3-eks-1a2b", 29),
        ("v1.40.0+k3s1", 40),
    ],
)
def test_the_minor_version_is_read(text: str, minor: int) -> None:
    assert (told_version(text), minor_of(text)) == (text, minor)


@pytest.mark.parametrize("text", ["", "latest", "v1.²", "v1.", "v2.1", "v1.99999", "1", "v1.36\n"])
def test_what_tells_no_version_counts_as_not_told(text: str) -> None:
    """A node may say anything of itself."""
    assert (told_version(text), minor_of(text)) == ("", 36)
