"""What a DeviceTaintRule, or the taints in a ResourceSlice, evict: only what they bring counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions import Options
from bailiff.decisions.changes import MAX_CHANGED_PODS
from bailiff.decisions.device_taints.facts import MAX_CLAIMS
from bailiff.decisions.device_taints.reaching import _FEW_PODS
from bailiff.kinds import DeviceTaintRule, ObjectMeta, Pod, ResourceClaim, ResourceSlice
from tests.harness.changes import Shown
from tests.harness.device_kinds import (
    claim,
    on,
    reserved,
    rule,
    slice_of,
    taint,
    tolerating,
    using,
)

if TYPE_CHECKING:
    from bailiff.decisions.changes import Consequences
    from bailiff.kinds.meta import Value

# Pod p has device a, pod q has device b and tolerates taints for a minute.
CLAIMS = (
    claim("c", on("a")),
    claim("d", on("b", tolerating(60)), reserved_for=(reserved("q", "q-1"),)),
    claim("free", None, reserved_for=()),
)
PODS = using("c"), using("d", name="q", uid="q-1")
WORLD = (*CLAIMS, *PODS, slice_of(a=(), b=()))


def going(found: Consequences | None) -> dict[str, str]:
    assert found is not None
    return {one.pod.metadata.name: one.after.verdict.value for one in found.pods}


def test_a_rule_evicts_now_and_later() -> None:
    found = Shown(*WORLD).what_comes_of(None, rule(added=None))
    assert going(found) == {"p": "EVICT_NOW", "q": "EVICT_AT"}
    assert found is not None
    assert found.causes == ("DeviceTaintRule r",)
    assert (found.not_seen, found.too_many, dict(found.elsewhere)) == ((), (), {})


def test_a_rule_that_selects_more_evicts_the_more() -> None:
    found = Shown(*WORLD, rule(device="b")).what_comes_of(rule(device="b"), rule())
    assert going(found) == {"p": "EVICT_NOW"}
    assert found is not None
    assert found.elsewhere == {("DeviceTaintRule r", "default"): 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(None, rule(effect="None"), id="no effect"),
        pytest.param(None, rule(effect="NoSchedule"), id="one that evicts nobody"),
        pytest.param(rule(), rule(), id="the same"),
        pytest.param(rule(), replace(rule(), metadata=rule(generation=2).metadata), id="metadata"),
        pytest.param(None, slice_of(a=()), id="no taint"),
        pytest.param(slice_of(a=(taint(),)), slice_of(a=(taint(),), b=()), id="the same taint"),
        pytest.param(slice_of(a=(taint(),)), slice_of(a=()), id="a taint taken away"),
        pytest.param(slice_of(a=()), slice_of(a=(taint(effect="NoSchedule"),)), id="NoSchedule"),
    ],
)
def test_nothing_is_read_where_nothing_evicting_comes(old: Value | None, new: Value) -> None:
    shown = Shown(*WORLD)
    assert shown.what_comes_of(old, new) is None
    assert shown.wanted == []


def test_a_rule_that_selects_nobodys_device_evicts_nobody() -> None:
    shown = Shown(*WORLD)
    assert going(shown.what_comes_of(None, rule(device="other"))) == {}
    assert [one.kind for one in shown.wanted] == [ResourceClaim]


def test_a_slice_evicts_whom_its_new_taints_reach() -> None:
    before, after = slice_of(a=(), b=(taint("old"),)), slice_of(a=(taint(),), b=(taint("old"),))
    found = Shown(*CLAIMS, *PODS, before).what_comes_of(before, after)
    assert going(found) == {"p": "EVICT_NOW"}
    assert found is not None
    assert found.causes == ("device taint k:NoExecute",)


def test_a_taint_that_a_driver_gives_no_time_counts_from_now() -> None:
    found = Shown(*WORLD).what_comes_of(None, slice_of(a=(taint(added=None),)))
    assert going(found) == {"p": "EVICT_NOW"}


def test_who_goes_for_another_rule_is_not_counted_again() -> None:
    found = Shown(*WORLD, rule("other", device="a")).what_comes_of(None, rule())
    assert going(found) == {"q": "EVICT_AT"}
    assert found is not None
    assert found.elsewhere == {}


def test_an_object_that_is_made_anew_evicts_anew_though_the_list_still_has_the_old() -> None:
    assert set(going(Shown(*WORLD, rule()).what_comes_of(None, rule()))) == {"p", "q"}
    tainted = slice_of(a=(taint(),))
    assert set(going(Shown(*CLAIMS, *PODS, tainted).what_comes_of(None, tainted))) == {"p"}


def test_a_device_of_another_pool_is_another_device() -> None:
    far = claim("far", on("a", pool="far"), reserved_for=(reserved("f", "f-1"),))
    shown = Shown(far, using("far", name="f", uid="f-1"), slice_of(pool="far", a=()))
    assert going(shown.what_comes_of(slice_of(a=()), slice_of(a=(taint(),)))) == {}


def test_who_has_ended_is_not_counted() -> None:
    ended = using("c", phase="Failed")
    assert going(Shown(*CLAIMS, ended).what_comes_of(None, rule())) == {}


def test_another_generation_of_a_pool_counts_as_a_whole() -> None:
    before, after = slice_of(a=(taint(),)), slice_of(generation=2, a=(taint(),))
    newer = slice_of("newer", generation=2)
    found = Shown(*CLAIMS, *PODS, before, newer).what_comes_of(before, after)
    assert going(found) == {"p": "EVICT_NOW"}


def test_pods_of_a_group_are_looked_for_in_its_namespace() -> None:
    group = reserved("g", "g-1", resource="podgroups", api_group="scheduling.k8s.io")
    shown = Shown(claim("c", reserved_for=(group,)), using("c", group="g"))
    options = Options(pod_group_claims=True)
    assert going(shown.what_comes_of(None, rule(), options)) == {"p": "EVICT_NOW"}


def test_of_a_long_namespace_it_is_said_that_not_all_pods_were_looked_at() -> None:
    group = reserved("g", "g-1", resource="podgroups", api_group="scheduling.k8s.io")
    others = tuple(
        Pod(metadata=ObjectMeta(name=f"o{number}", namespace="default", uid=f"o{number}"))
        for number in range(MAX_CHANGED_PODS)
    )
    last = using("c", group="g")
    told = {}
    for pods in (others[1:], others):
        shown = Shown(claim("c", reserved_for=(group,)), *pods, last)
        found = shown.what_comes_of(None, rule(), Options(pod_group_claims=True))
        assert found is not None
        told[len(pods) + 1] = found.too_many
    assert told == {
        MAX_CHANGED_PODS: (),
        MAX_CHANGED_PODS + 1: (f"pods of namespace default beyond the first {MAX_CHANGED_PODS}",),
    }


def test_a_namespace_that_is_listed_is_not_asked_for_its_pods_by_name() -> None:
    group = reserved("g", "g-1", resource="podgroups", api_group="scheduling.k8s.io")
    shown = Shown(claim("c", reserved_for=(group, reserved())), using("c"))
    assert going(shown.what_comes_of(None, rule())) == {"p": "EVICT_NOW"}
    assert [one.names for one in shown.wanted if one.kind is Pod] == [None]


def test_many_pods_are_listed_and_few_are_got() -> None:
    def wanted(number: int) -> int:
        consumers = tuple(reserved(f"p{one}", f"p{one}-1") for one in range(number))
        shown = Shown(claim("c", reserved_for=consumers))
        shown.what_comes_of(None, rule())
        return sum(one.kind is Pod for one in shown.wanted)

    assert [wanted(number) for number in (1, 9, _FEW_PODS, _FEW_PODS + 1)] == [1, 2, 8, 1]


@pytest.mark.parametrize("kind", [ResourceClaim, Pod, ResourceSlice, DeviceTaintRule])
def test_what_may_not_be_read_is_said(kind: type[Value]) -> None:
    found = Shown(*WORLD, forbidden=(kind,)).what_comes_of(None, rule())
    assert found is not None
    assert found.not_seen == (f"no {kind.__name__}",)
    assert len(found.pods) == (2 if kind in (ResourceSlice, DeviceTaintRule) else 0)


def test_many_claims_are_gone_through_in_parts_and_no_more_than_are_looked_at() -> None:
    def found(place: int) -> Consequences | None:
        others = [claim(f"o{one}", on("b"), reserved_for=()) for one in range(place)]
        return Shown(*others, claim("c", on("a")), using("c")).what_comes_of(None, rule(device="a"))

    assert [set(going(found(place))) for place in (1999, 2000, 4001)] == [{"p"}] * 3
    beyond = found(MAX_CLAIMS)
    assert going(beyond) == {}
    assert beyond is not None
    assert beyond.too_many == (f"ResourceClaims beyond the first {MAX_CLAIMS}",)


def test_it_is_off_with_the_gate() -> None:
    assert Shown(*WORLD).what_comes_of(None, rule(), Options(device_taint_eviction=False)) is None
