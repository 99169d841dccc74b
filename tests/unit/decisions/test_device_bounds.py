"""Questions about devices are bounded, and a cluster of 20,000 fits."""

import pytest
from msgspec.structs import replace

from bailiff.decisions import (
    DeviceFacts,
    DeviceTaintRuleFacts,
    FactsError,
    OptionOverrides,
    bounds,
    decide_devices,
)
from tests.harness.device_kinds import NOW, claim, on, rule, slice_of, taint, tolerating, using


def test_a_question_about_devices_that_asks_nothing():
    with pytest.raises(FactsError) as caught:
        decide_devices(DeviceFacts(resource_slices=(slice_of(),)), NOW)
    assert caught.value.path == "$.pods"


def tolerations(number):
    return tuple(tolerating(1, key=str(i)) for i in range(number))


@pytest.mark.parametrize(
    ("facts", "path"),
    [
        pytest.param(
            {"resource_slices": (slice_of(),) * (bounds.MAX_SLICES + 1)},
            "$.resourceSlices",
            id="slices",
        ),
        pytest.param(
            {"resource_claims": (claim(),) * (bounds.MAX_CLAIMS + 1)},
            "$.resourceClaims",
            id="claims",
        ),
        pytest.param(
            {"device_taint_rules": (rule(),) * (bounds.MAX_RULES + 1)},
            "$.deviceTaintRules",
            id="rules",
        ),
        pytest.param({"pods": (using(),) * (bounds.MAX_DEVICE_PODS + 1)}, "$.pods", id="pods"),
        pytest.param(
            {"resource_slices": (slice_of(**{f"d{i}": () for i in range(11)}),) * 5000},
            "$.resourceSlices[*].spec.devices",
            id="devices",
        ),
        pytest.param(
            {"resource_claims": (claim("c", *(on(),) * 11),) * 10_000},
            "$.resourceClaims[*].status.allocation.devices.results",
            id="allocated devices",
        ),
        pytest.param(
            {
                "resource_claims": (claim("c", *(on("a", *tolerations(100)),) * 100),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(100)),
            },
            "$.resourceClaims",
            id="comparisons",
        ),
        pytest.param(
            {
                "resource_claims": (claim("c", *(on(),) * 1000),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(101)),
            },
            "$.resourceClaims",
            id="an answer too long",
        ),
        pytest.param(
            {
                "pods": (using("c"),) * 1001,
                "resource_claims": (claim(),),
                "device_taint_rules": tuple(rule(str(i)) for i in range(100)),
            },
            "$.resourceClaims",
            id="answers too long together",
        ),
        pytest.param(
            {
                "pods": (using("c"),) * 100,
                "resource_claims": (claim("c", reserved_for=(using("c"),) * 6000),),
            },
            "$.resourceClaims",
            id="users to look through",
        ),
    ],
)
def test_every_question_is_bounded(facts, path):
    with pytest.raises(FactsError) as caught:
        DeviceFacts(**{"pods": (using(),), **facts}).check()
    assert caught.value.path == path
    assert "at most" in caught.value.reason


def test_a_trace_makes_an_answer_longer():
    facts = DeviceFacts(
        resource_claims=(claim("c", *(on(),) * 200),),
        device_taint_rules=tuple(rule(str(i)) for i in range(100)),
    )
    facts.check()
    with pytest.raises(FactsError, match="with a trace"):
        replace(facts, options=OptionOverrides(explain=True)).check()


def test_a_cluster_of_20_000_devices_and_claims_fits():
    slices = tuple(
        slice_of(f"s{n}", pool=f"p{n}", **{f"d{i}": (taint(),) for i in range(8)})
        for n in range(2500)
    )
    names = [(f"p{n}", f"d{i}") for n in range(2500) for i in range(8)]
    claims = tuple(
        claim(f"{pool}-{device}", on(device, tolerating(1), pool=pool)) for pool, device in names
    )
    pods = tuple(using(one.metadata.name, name=one.metadata.name) for one in claims)
    DeviceFacts(pods=pods, resource_claims=claims, resource_slices=slices).check()
    asked = rule(added=None)
    DeviceTaintRuleFacts(
        rule=asked, pods=pods, resource_claims=claims, resource_slices=slices
    ).check()
