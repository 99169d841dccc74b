"""When a pod evicts: which claims are its own, and what is said of it."""

import pytest

from bailiff.decisions import Options, Verdict, cancellation_event, combine
from bailiff.decisions.device_taints import TERMS, DeviceTaintSubject
from bailiff.kinds import PodResourceClaim
from tests.harness.asking import of_devices
from tests.harness.device_kinds import (
    NOW,
    at,
    claim,
    extended,
    from_template,
    index_of,
    made,
    on,
    owned_by,
    reserved,
    rule,
    slice_of,
    taint,
    tolerating,
    using,
)

TAINTED = slice_of(a=(taint(added=-5),), b=(taint(added=5),))
GROUPS = Options(pod_group_claims=True)
GROUP = {"api_group": "scheduling.k8s.io", "resource": "podgroups", "pod": "g", "uid": "g-1"}
GROUP_OWNER = {"kind": "PodGroup", "name": "g", "api_version": "scheduling.k8s.io/v1alpha2"}


def decide(pod, *claims, options=None):
    return of_devices(index_of(TAINTED, *claims), pod, NOW, options or Options())


@pytest.mark.parametrize(
    ("pod", "claims", "reason"),
    [
        pytest.param(using("c"), [claim()], "TaintNotTolerated", id="by name"),
        pytest.param(using("c", node=""), [claim()], "PodNotBound", id="not bound"),
        pytest.param(using(), [claim()], "NoDeviceClaims", id="no claims"),
        pytest.param(using("c", phase="Failed"), [claim()], "PodFinished", id="finished"),
        pytest.param(
            using("c", deletion_timestamp=NOW), [claim()], "PodTerminating", id="terminating"
        ),
        pytest.param(using("c"), [], "NoTaint", id="no such claim"),
        pytest.param(using("c"), [claim("c", None)], "NoTaint", id="not allocated"),
        pytest.param(using("c"), [claim(namespace="other")], "NoTaint", id="other namespace"),
        pytest.param(using("c"), [claim(reserved_for=())], "NoTaint", id="not reserved"),
        pytest.param(using("c", uid="p-2"), [claim()], "NoTaint", id="for the pod before it"),
        pytest.param(
            using("c"),
            [claim(reserved_for=(reserved("x", "x-1"), reserved("x", "p-1")))],
            "TaintNotTolerated",
            id="only the UID of a reservation counts",
        ),
        pytest.param(
            using("c"), [claim(owner=owned_by("x"))], "TaintNotTolerated", id="no owner by name"
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),)),
            [claim(owner=owned_by())],
            "TaintNotTolerated",
            id="from a template",
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),)),
            [claim(owner=owned_by("p-2"))],
            "NoTaint",
            id="made for another",
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),)),
            [claim(owner=owned_by(controller=False))],
            "NoTaint",
            id="an owner that does not control",
        ),
        pytest.param(using(from_template()), [claim(owner=owned_by())], "NoTaint", id="not made"),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made(None), made("c"))),
            [claim(owner=owned_by())],
            "NoTaint",
            id="the first status counts: none needed",
        ),
        pytest.param(
            using(
                PodResourceClaim(
                    name="t", resource_claim_name="c", resource_claim_template_name="x"
                )
            ),
            [claim()],
            "TaintNotTolerated",
            id="of name and template the name counts",
        ),
        pytest.param(using(PodResourceClaim(name="c")), [claim()], "NoTaint", id="neither"),
        pytest.param(
            using(extended_resource_claim_status=extended("c")),
            [claim()],
            "TaintNotTolerated",
            id="extended resources",
        ),
    ],
)
def test_whose_claim_it_is(pod, claims, reason):
    assert decide(pod, *claims).reason == reason
    assert (index_of(TAINTED, *claims).eviction(pod) is None) == (reason != "TaintNotTolerated")


@pytest.mark.parametrize(
    ("pod", "claims", "options"),
    [
        pytest.param(
            using(extended_resource_claim_status=extended("c")),
            [claim()],
            Options(extended_resource_claims=False),
            id="extended resources left out",
        ),
        pytest.param(
            using("c", group="g"), [claim(reserved_for=(reserved(**GROUP),))], Options(), id="group"
        ),
        pytest.param(
            using("c", group="h"),
            [claim(reserved_for=(reserved(**GROUP),))],
            GROUPS,
            id="another group",
        ),
        pytest.param(
            using("c"), [claim(reserved_for=(reserved(**GROUP),))], GROUPS, id="of no group"
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),), group="g"),
            [claim(owner=owned_by("g-1", **GROUP_OWNER))],
            Options(),
            id="made for its group",
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),), group="g"),
            [claim(owner=owned_by("g-1", **{**GROUP_OWNER, "api_version": "x.io/v1"}))],
            GROUPS,
            id="made for a namesake of its group",
        ),
    ],
)
def test_options_that_keep(pod, claims, options):
    assert decide(pod, *claims, options=options).reason == "NoTaint"


@pytest.mark.parametrize(
    ("pod", "claims", "options"),
    [
        pytest.param(
            using("c", group="g"), [claim(reserved_for=(reserved(**GROUP),))], GROUPS, id="group"
        ),
        pytest.param(
            using(from_template(), resource_claim_statuses=(made("c"),), group="g"),
            [claim(owner=owned_by("g-1", **GROUP_OWNER))],
            GROUPS,
            id="made for its group",
        ),
        pytest.param(
            using("c", phase="Failed"), [claim()], Options(evict_ended_pods=True), id="finished"
        ),
        pytest.param(
            using("c", deletion_timestamp=NOW),
            [claim()],
            Options(evict_ended_pods=True),
            id="terminating",
        ),
    ],
)
def test_options_that_evict(pod, claims, options):
    assert decide(pod, *claims, options=options).verdict is Verdict.EVICT_NOW


@pytest.mark.parametrize(
    ("added", "tolerations", "verdict", "reason", "evict_at"),
    [
        (-5, (), Verdict.EVICT_NOW, "TaintNotTolerated", at(-5)),
        (0, (), Verdict.EVICT_NOW, "TaintNotTolerated", at(0)),
        (5, (), Verdict.EVICT_AT, "TaintStartsLater", at(5)),
        (-5, (tolerating(9),), Verdict.EVICT_AT, "ToleratedUntil", at(4)),
        (-5, (tolerating(5),), Verdict.EVICT_NOW, "TolerationExpired", at(0)),
        (-5, (tolerating(0),), Verdict.EVICT_NOW, "TolerationExpired", at(-5)),
        (-5, (tolerating(),), Verdict.KEEP, "ToleratedForever", None),
        (None, (), Verdict.KEEP, "TaintStartUnknown", None),
        (None, (tolerating(5),), Verdict.KEEP, "TaintStartUnknown", None),
        (None, (tolerating(),), Verdict.KEEP, "ToleratedForever", None),
    ],
)
def test_verdicts(added, tolerations, verdict, reason, evict_at):
    index = index_of(slice_of(a=(taint(added=added),)), claim("c", on("a", *tolerations)))
    finding = index.decide(using("c"), NOW)
    assert (finding.system, finding.verdict) == ("device-taints", verdict)
    assert (finding.reason, finding.evict_at) == (reason, evict_at)
    assert finding.holds_until == (evict_at if verdict is Verdict.EVICT_AT else None)


def test_several_claims_go_with_the_first_for_the_reasons_of_all():
    pod = using("late", "soon", "late")
    index = index_of(TAINTED, rule(added=3), claim("late", on("b")), claim("soon"))
    eviction = index.eviction(pod)
    assert eviction is not None
    assert eviction.evict_at == at(-5)
    assert eviction.reasons == (
        "DeviceTaintRule /r:r-1",
        "ResourceSlice /s:s-1 gpu.example.com/pool/a taint #0",
        "ResourceSlice /s:s-1 gpu.example.com/pool/b taint #0",
    )
    assert [one.name for one in eviction.rules] == ["r"]
    finding = index.decide(pod, NOW)
    assert finding.message.startswith("taint k:NoExecute of device gpu.example.com/pool/a is not")
    assert finding.message.endswith(f"({', '.join(eviction.reasons)})")


def test_the_trace_names_claim_slice_device_rule_and_toleration():
    index = index_of(TAINTED, rule(added=3), claim("c", on("a", tolerating(9, key="k"))))
    looked, published, ruled = index.decide(using("c"), NOW).trace
    assert (looked.rule, looked.outcome) == ("ResourceClaim", "Used")
    assert looked.subject is None
    met = published.subject
    assert isinstance(met, DeviceTaintSubject)
    assert (met.device.claim.name, met.device.device) == ("c", "a")
    assert met.device.resource_slice is not None
    assert met.device.resource_slice.uid == "s-1"
    assert (met.taint_index, met.toleration_index) == (0, 0)
    assert (published.outcome, published.deadline) == ("ToleratedForSeconds", at(4))
    met = ruled.subject
    assert isinstance(met, DeviceTaintSubject)
    assert met.device.device_taint_rule is not None
    assert met.device.device_taint_rule.name == "r"
    assert (ruled.outcome, met.taint_index, ruled.deadline) == ("NotTolerated", None, at(3))


def test_no_trace_is_built_unless_asked_for():
    assert decide(using("c"), claim(), options=Options(explain=False)).trace == ()


def test_the_decision_has_the_device_managers_condition_and_event():
    pod = using("c")
    decision = combine(pod, "node", (decide(pod, claim()),), NOW)
    assert decision.decided_by == "device-taints"
    assert decision.eviction == TERMS
    assert TERMS.condition is not None
    assert TERMS.condition.reason == "DeletionByDeviceTaintManager"
    assert decision.event is not None
    assert decision.event.reason == "DeviceTaintManagerEviction"
    cancelled = cancellation_event(pod, "the taint is gone", TERMS)
    assert cancelled.reason == "DeviceTaintManagerEviction"
