"""Sequences of changes to slices, rules, claims and pods, small enough for much to meet."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

DRIVERS = ("gpu.example.com",) * 9 + ("nic.example.com",)
POOLS = ("n1",) * 9 + ("n2",)
DEVICES = ("a", "a", "b", "c")
# Each slice with the generations and the devices it may have, so that no device stands twice in the
# slices that count: which of the two upstream takes then is left to chance.
SLICES = {"s1": ((1, 2), ("a", "b")), "s2": ((1, 2), ("c",)), "s3": ((3, 4), ("a", "c"))}
KEYS = ("k", "l")
TIMES = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z", "2030-01-01T00:00:00Z")
INSTANTS = (*TIMES, *TIMES, None)
EFFECTS = ("NoExecute",) * 7 + ("NoSchedule", "None")
SECONDS = (None, -1, 0, 5, 30, 300, 9223372036, 9223372037, 2**55, 2**63 - 1)
CLAIMS = ("c1", "c2", "made")
# The parts of UIDs that tell an object from the one of the same name before it.
NUMBERS = (1,) * 7 + (2,)
PODS = ("p1", "p2")


def _some(values: dict[str, Any]) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def _uids(name: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f"{name}-{number}" for number in NUMBERS])


def _taints() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda key, value, effect, added: _some(
            {"key": key, "value": value, "effect": effect, "timeAdded": added}
        ),
        st.sampled_from(KEYS),
        st.sampled_from((None, "v")),
        st.sampled_from(EFFECTS),
        st.sampled_from(INSTANTS),
    )


def _tolerations() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda key, operator, value, effect, seconds: _some(
            {
                "key": key,
                "operator": operator,
                "value": value,
                "effect": effect,
                "tolerationSeconds": seconds,
            }
        ),
        st.sampled_from((None, *KEYS)),
        st.sampled_from(("Exists", "Exists", "Equal", None, "Lt")),
        st.sampled_from((None, "v")),
        st.sampled_from(("NoExecute",) * 5 + ("NoSchedule", None)),
        st.sampled_from(SECONDS),
    )


@st.composite
def slices(draw: st.DrawFn, *, unique: bool = True) -> Json:
    """ResourceSlices; `unique`: no device in two that count."""
    name = draw(st.sampled_from(tuple(SLICES)))
    generations, names = SLICES[name] if unique else ((1, 2), ("a", "b", "c"))
    devices = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    taints = st.lists(_taints(), min_size=1, max_size=3)
    driver, pool = draw(st.sampled_from(DRIVERS)), draw(st.sampled_from(POOLS))
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name, "uid": draw(_uids(name))},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": draw(st.sampled_from(generations))},
            "devices": [{"name": one, "taints": draw(taints)} for one in devices],
        },
    }


@st.composite
def rules(draw: st.DrawFn) -> Json:
    """DeviceTaintRules."""
    name = draw(st.sampled_from(("r1", "r2")))
    selector = st.fixed_dictionaries(
        {},
        optional={
            "driver": st.sampled_from(DRIVERS),
            "pool": st.sampled_from(POOLS),
            "device": st.sampled_from(DEVICES),
        },
    )
    spec = {"taint": draw(_taints())}
    if draw(st.integers(0, 9)):
        spec["deviceSelector"] = draw(selector)
    uid = draw(_uids(name))
    return {"kind": "DeviceTaintRule", "metadata": {"name": name, "uid": uid}, "spec": spec}


@st.composite
def claims(draw: st.DrawFn) -> Json:
    """ResourceClaims; `made` is the one made for p1 from a template."""
    name = draw(st.sampled_from(CLAIMS))
    metadata: Json = {
        "name": name,
        "namespace": "default",
        "uid": draw(_uids(name)),
    }
    if name == "made":
        owner = {"kind": "Pod", "name": "p1", "uid": draw(_uids("p1"))}
        metadata["ownerReferences"] = [{**owner, "controller": draw(st.integers(0, 3)) > 0}]
    device = st.builds(
        lambda driver, pool, device, tolerations: {
            "driver": driver,
            "pool": pool,
            "device": device,
            "tolerations": tolerations,
        },
        st.sampled_from(DRIVERS),
        st.sampled_from(POOLS),
        st.sampled_from(DEVICES),
        st.lists(_tolerations(), max_size=2),
    )
    status: Json = {"reservedFor": draw(st.lists(_consumers(), min_size=1, max_size=3))}
    if draw(st.integers(0, 5)):
        status["allocation"] = {
            "devices": {"results": draw(st.lists(device, min_size=1, max_size=3))}
        }
    return {"kind": "ResourceClaim", "metadata": metadata, "status": status}


def _consumers() -> st.SearchStrategy[Json]:
    return st.builds(
        lambda name, number, group: {
            "name": name,
            "resource": "podgroups" if group else "pods",
            "uid": f"{name}-{number}",
            "apiGroup": "scheduling.k8s.io" if group else "",
        },
        st.sampled_from((*PODS, *PODS, *PODS, "g")),
        st.sampled_from(NUMBERS),
        st.integers(0, 9).map(lambda number: number == 9),
    )


@st.composite
def pods(draw: st.DrawFn) -> Json:
    """Pods that use claims by name, by template and by extended resource."""
    name = draw(st.sampled_from(PODS))
    metadata = {
        "name": name,
        "namespace": "default",
        "uid": draw(_uids(name)),
    }
    if not draw(st.integers(0, 9)):
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    named = st.sampled_from(("c1", "c2"))
    entries = [{"name": "x", "resourceClaimName": draw(named)}]
    status: Json = {"phase": draw(st.sampled_from(("Running",) * 9 + ("Failed",)))}
    if draw(st.booleans()):
        entries.append({"name": "t", "resourceClaimTemplateName": "template"})
        made = st.sampled_from(({"resourceClaimName": "made"}, {}))
        status["resourceClaimStatuses"] = draw(
            st.lists(st.builds(lambda one: {"name": "t", **one}, made), max_size=2)
        )
    if not draw(st.integers(0, 3)):
        status["extendedResourceClaimStatus"] = {"resourceClaimName": draw(named)}
    spec: Json = {"resourceClaims": entries[draw(st.integers(0, 5)) // 5 :]}
    if draw(st.integers(0, 5)):
        spec["nodeName"] = "node"
    if not draw(st.integers(0, 3)):
        spec["schedulingGroup"] = {"podGroupName": "g"}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def events(*, unique: bool = True) -> st.SearchStrategy[Json]:
    """Inputs in the form of the file's cases."""
    objects = st.one_of(slices(unique=unique), claims(), pods(), rules(), slices(unique=unique))
    event = st.builds(
        lambda kind, one: {"type": kind, "object": one},
        st.sampled_from(("MODIFIED",) * 4 + ("DELETED",)),
        objects,
    )
    added = [
        st.builds(lambda one: {"type": "ADDED", "object": one}, kind)
        for kind in (pods(), claims(), slices(unique=unique))
    ]
    return st.builds(
        lambda first, then: {"events": [*first, *then]},
        st.tuples(*added, *added),
        st.lists(event, max_size=14),
    )
