"""When a claim evicts: tolerations, pools, rules, reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.device_taints import device_tolerates
from bailiff.decisions.instants import END_OF_TIME
from bailiff.kinds import INT64_MAX, INT64_MIN, DeviceToleration
from tests.harness.device_kinds import at, claim, index_of, on, rule, slice_of, taint, tolerating

KEY = "default", "c"


def evict_at(*objects):
    return index_of(*objects).claim(KEY).evict_at


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        pytest.param({}, False, id="Equal compares values"),
        pytest.param({"value": "v"}, True, id="an empty key matches any"),
        pytest.param({"key": "k", "value": "v", "operator": "Equal"}, True, id="Equal"),
        pytest.param({"operator": "Exists", "value": "other"}, True, id="Exists looks at no value"),
        pytest.param({"operator": "Exists", "key": "other"}, False, id="another key"),
        pytest.param({"operator": "Exists", "effect": "NoSchedule"}, False, id="another effect"),
        pytest.param({"operator": "Exists", "effect": ""}, True, id="an empty effect matches any"),
        pytest.param({"operator": "Gt", "value": "v"}, False, id="no comparisons of devices"),
        pytest.param({"operator": "exists", "value": "v"}, False, id="an unknown operator"),
    ],
)
def test_device_tolerates(toleration, tolerates):
    assert device_tolerates(DeviceToleration(**toleration), taint(value="v")) is tolerates


@pytest.mark.parametrize(
    ("tolerations", "due"),
    [
        pytest.param((), at(0), id="none"),
        pytest.param((tolerating(),), None, id="for ever"),
        pytest.param((tolerating(30),), at(30), id="seconds count from timeAdded"),
        pytest.param((tolerating(30), tolerating(5), tolerating(9)), at(5), id="the fewest"),
        pytest.param((tolerating(5), tolerating()), None, id="for ever wins wherever it stands"),
        pytest.param((tolerating(-7),), at(0), id="negative is none"),
        pytest.param((tolerating(INT64_MIN),), at(0), id="very negative"),
        pytest.param((tolerating(INT64_MAX),), END_OF_TIME, id="very far"),
        pytest.param((tolerating(9223372037),), at(9223372037), id="upstream overflows here"),
        pytest.param((tolerating(effect=""),), at(0), id="an empty effect counts for no eviction"),
        pytest.param((tolerating(effect="NoSchedule"),), at(0), id="another effect"),
        pytest.param((tolerating(key="other"),), at(0), id="another key"),
    ],
)
def test_tolerations_of_the_allocation(tolerations, due):
    for tainting in (slice_of(a=(taint(),)), rule()):
        assert evict_at(tainting, claim("c", on("a", *tolerations))) == due


@pytest.mark.parametrize(
    ("objects", "due"),
    [
        pytest.param([slice_of(a=())], None, id="no taint"),
        pytest.param([slice_of(a=(taint(effect="NoSchedule"),))], None, id="no effect on pods"),
        pytest.param([slice_of(b=(taint(),))], None, id="another device"),
        pytest.param([slice_of(a=(taint(),), pool="other")], None, id="another pool"),
        pytest.param([slice_of(a=(taint(added=9), taint("l", added=3)))], at(3), id="the first"),
        pytest.param(
            [slice_of("old", 1, a=(taint(),)), slice_of("new", 2, b=())], None, id="an old one"
        ),
        pytest.param(
            [slice_of("old", 1, a=(taint(),)), slice_of("new", 2, a=(taint(added=5),))],
            at(5),
            id="the newest counts",
        ),
        pytest.param([slice_of("x", b=()), slice_of("y", a=(taint(),))], at(0), id="two parts"),
        pytest.param([rule()], at(0), id="an empty selector selects all"),
        pytest.param([rule(selector=False)], None, id="no selector selects none"),
        pytest.param([rule(device="a", pool="pool", driver="gpu.example.com")], at(0), id="all"),
        pytest.param([rule(device="b")], None, id="not this device"),
        pytest.param([rule(pool="")], None, id="an empty name is a name"),
        pytest.param([rule(effect="None")], None, id="a rule without effect"),
        pytest.param([rule(added=7), slice_of(a=(taint(added=9),))], at(7), id="rule before slice"),
        pytest.param([slice_of(a=(taint(added=None),))], None, id="unknown start"),
        pytest.param(
            [slice_of(a=(taint(added=None), taint("l", added=4)))], at(4), id="one known start"
        ),
    ],
)
def test_taints(objects, due):
    assert evict_at(*objects, claim()) == due
    assert evict_at(claim(), *reversed(objects)) == due


def test_a_claim_that_is_not_allocated_does_not_evict():
    assert evict_at(rule(), claim("c", None)) is None
    assert index_of(rule()).claim(KEY).evict_at is None


def test_seconds_of_an_unknown_start_have_no_end():
    assert evict_at(slice_of(a=(taint(added=None),)), claim("c", on("a", tolerating(5)))) is None


def test_a_device_allocated_twice_counts_with_the_shorter_time_and_once_as_a_reason():
    found = index_of(
        slice_of(a=(taint(),)), claim("c", on("a", tolerating(9)), on("a", tolerating(3)))
    ).claim(KEY)
    assert found.evict_at == at(3)
    assert [reason.due for reason in found.reasons] == [at(3)]


def test_reasons_in_upstreams_words_and_order():
    index = index_of(
        slice_of(b=(taint(),), a=(taint(effect="NoSchedule"), *[taint(str(n)) for n in range(10)])),
        rule("z"),
        rule("m", effect="None"),
        rule("b"),
        claim("c", on("b"), on("a", tolerating(key="3"))),
    )
    told = [reason.reason for reason in index.claim(KEY).reasons]
    assert told == [
        "DeviceTaintRule /b:b-1",
        "DeviceTaintRule /z:z-1",
        *(
            f"ResourceSlice /s:s-1 gpu.example.com/pool/a taint #{number}"
            for number in (1, 2, 3, 5, 6, 7, 8, 9, 10)
        ),
        "ResourceSlice /s:s-1 gpu.example.com/pool/b taint #0",
    ]


@given(st.permutations([("x", 1), ("y", 2), ("z", 3)]), st.permutations(["x", "y", "z"]))
def test_when_the_newest_generation_goes_the_next_counts(arriving, leaving):
    index = index_of(claim())
    present = {}
    for name, generation in arriving:
        present[name] = generation
        index.apply_slice(slice_of(name, generation, a=(taint(added=generation),)))
        assert index.claim(KEY).evict_at == at(max(present.values()))
    for name in leaving:
        del present[name]
        index.delete_slice(name)
        newest = max(present.values(), default=None)
        assert index.claim(KEY).evict_at == (None if newest is None else at(newest))
