"""What a change of a DeviceTaintRule, or of the taints in a ResourceSlice, evicts.

Only what the change brings counts: what evicts without it is looked at beside it.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.changes import Consequences, weighing, worse
from bailiff.decisions.cost import check_cost
from bailiff.decisions.decision import Verdict
from bailiff.decisions.device_taints.objects import index_of
from bailiff.decisions.device_taints.reaching import Reach, Reached, look
from bailiff.decisions.device_taints.rules import selects
from bailiff.decisions.device_taints.weighing import weigh
from bailiff.decisions.question import Plan
from bailiff.decisions.text import describe_taint
from bailiff.kinds import NO_EXECUTE, DeviceTaintRule, ResourceSlice

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.device_taints.facts import DeviceTaintFacts
    from bailiff.decisions.options import Options
    from bailiff.kinds import Device, DeviceTaint, Pod


def look_at_change(change: ObjectChange, options: Options) -> ChangeLookUp:
    """The claims of devices that the change taints, and the pods that use those.

    Raises:
        TooMuchError: it would take too long to decide for that much.
    """
    if not options.device_taint_eviction:
        return None
    old, new = change.old, change.new
    if isinstance(new, DeviceTaintRule) and isinstance(old, DeviceTaintRule | None):
        change = replace(change, new=_dated_rule(new, change.now))
        reach = _of_rule(old, new)
    elif isinstance(new, ResourceSlice) and isinstance(old, ResourceSlice | None):
        change = replace(change, new=_dated_slice(new, change.now))
        reach = _of_slice(old, new)
    else:
        return None
    if reach is None:
        return None
    reached = yield from look(reach)
    with weighing(reach.causes):
        return _plan(change, reach, reached, replace(options, explain=False))


def _of_rule(old: DeviceTaintRule | None, new: DeviceTaintRule) -> Reach | None:
    if new.spec.taint.effect != NO_EXECUTE or (old is not None and old.spec == new.spec):
        return None
    selector = new.spec.device_selector
    return Reach((f"DeviceTaintRule {new.metadata.name}",), lambda one: selects(selector, one))


def _of_slice(old: ResourceSlice | None, new: ResourceSlice) -> Reach | None:
    brought = _brought(old, new)
    if not brought:
        return None
    driver, pool = new.spec.driver, new.spec.pool.name
    causes = {f"device taint {describe_taint(one)}" for _, taints in brought for one in taints}
    named = {device.name for device, _ in brought}
    return Reach(
        tuple(sorted(causes)),
        lambda one: (one.driver, one.pool) == (driver, pool) and one.device in named,
    )


def _brought(
    old: ResourceSlice | None, new: ResourceSlice
) -> list[tuple[Device, list[DeviceTaint]]]:
    """The devices with the NoExecute taints that they have not had.

    In another generation of the pool all count: which slices do is another matter then.
    """
    known: dict[str, set[DeviceTaint]] = {}
    if old is not None and old.spec.pool == new.spec.pool:
        known = {one.name: set(one.taints) for one in old.spec.devices}
    found = ((one, _evicting(one, known.get(one.name, set()))) for one in new.spec.devices)
    return [(one, taints) for one, taints in found if taints]


def _evicting(device: Device, known: set[DeviceTaint]) -> list[DeviceTaint]:
    return [one for one in device.taints if one.effect == NO_EXECUTE and one not in known]


def _dated_rule(rule: DeviceTaintRule, now: datetime) -> DeviceTaintRule:
    return replace(rule, spec=replace(rule.spec, taint=_dated(rule.spec.taint, now)))


def _dated_slice(one: ResourceSlice, now: datetime) -> ResourceSlice:
    devices = tuple(
        replace(device, taints=tuple(_dated(taint, now) for taint in device.taints))
        for device in one.spec.devices
    )
    return replace(one, spec=replace(one.spec, devices=devices))


def _dated(taint: DeviceTaint, now: datetime) -> DeviceTaint:
    """As the API server will have it, which gives each taint its time."""
    return taint if taint.time_added is not None else replace(taint, time_added=now)


def _plan(
    change: ObjectChange, reach: Reach, reached: Reached, options: Options
) -> Plan[Consequences]:
    before = _with(reached.facts, change.new, change.old)
    after = _with(reached.facts, change.new, change.new)
    costs = [weigh(one, reached.pods, explain=False) for one in (before, after)]
    # Nobody is told all of it.
    found = check_cost([replace(one, told=0) for one in costs])
    work = partial(_consequences, before, after, reach, reached, change.now, options)
    return Plan(found.steps, 0, work)


def _with(facts: DeviceTaintFacts, changed: object, as_it_is: object) -> DeviceTaintFacts:
    """The facts with one state of the object that is changed, and no other."""
    rules = [one for one in facts.device_taint_rules if not _is(one, changed)]
    slices = [one for one in facts.resource_slices if not _is(one, changed)]
    if isinstance(as_it_is, DeviceTaintRule):
        rules.append(as_it_is)
    elif isinstance(as_it_is, ResourceSlice):
        slices.append(as_it_is)
    return replace(facts, device_taint_rules=tuple(rules), resource_slices=tuple(slices))


def _is(one: DeviceTaintRule | ResourceSlice, changed: object) -> bool:
    return isinstance(changed, type(one)) and one.metadata.name == changed.metadata.name


def _consequences(
    before: DeviceTaintFacts,
    after: DeviceTaintFacts,
    reach: Reach,
    reached: Reached,
    now: datetime,
    options: Options,
) -> Consequences:
    old, new = index_of(before), index_of(after)
    changed, elsewhere = [], Counter[tuple[str, str]]()
    for pod in reached.pods:
        found = new.decide(pod, now, options)
        if _stays(pod, options) or found.verdict is Verdict.KEEP:
            continue
        one = worse(pod, old.decide(pod, now, options), found)
        if one is not None:
            changed.append(one)
        elif found.cause in reach.causes:
            elsewhere[found.cause, pod.metadata.namespace] += 1
    return Consequences(
        pods=tuple(changed),
        causes=reach.causes,
        elsewhere=elsewhere,
        not_seen=reached.not_seen,
        too_many=reached.too_many,
    )


def _stays(pod: Pod, options: Options) -> bool:
    return pod.has_ended and not options.evict_ended_pods
