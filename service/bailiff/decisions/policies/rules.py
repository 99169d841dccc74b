"""The rules by which an eviction that is due waits, in a fixed order; the first says why.

Each is off unless its policy is on. What a policy needs and nobody knows holds the eviction back:
fail closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.policies.blast import ANNOTATION, blast_excess, is_acknowledged
from bailiff.decisions.policies.breaker import BreakerLevel, BreakerState, describe_zone
from bailiff.decisions.policies.circumstances import UNKNOWN, Circumstances
from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.over_time import Way, Wish, wish_of
from bailiff.decisions.policies.over_time_counts import room_for
from bailiff.decisions.policies.over_time_settings import Unreadable
from bailiff.decisions.policies.publisher import is_foreign
from bailiff.decisions.policies.selectors import selects
from bailiff.decisions.policies.settings import NO_POLICIES
from bailiff.decisions.policies.windows import next_opening, open_at
from bailiff.decisions.text import describe_time
from bailiff.kinds import LABELS_NOT_KEPT, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.decisions.policies.over_time_settings import OverTime
    from bailiff.decisions.policies.settings import Policies
    from bailiff.kinds import Pod


def hold(circumstances: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """Why the eviction waits; None: by the policies it may begin.

    Args:
        circumstances: the facts.
        policies: what the operator asked for.
        now: the instant to decide for.
    """
    return _first(_RULES, circumstances, policies, now)


def may_hold(policies: Policies) -> bool:
    """Whether any of them says when an eviction may begin; the Eviction API says how it is done."""
    return replace(policies, eviction_api=None) != NO_POLICIES


def selects_pods(policies: Policies) -> bool:
    """Whether any of them chooses pods by their labels."""
    budgets = policies.over_time.budgets if policies.over_time else ()
    selectors = (policies.exclude.pod_selector, *(one.pod_selector for one in budgets))
    return any(one is not None for one in selectors)


def paused(facts: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """All evictions are paused, or it is not known whether they are."""
    if policies.pause is None or facts.pause is None:
        return None
    if facts.pause is UNKNOWN:
        where = f"{policies.pause.namespace}/{policies.pause.name}"
        return Hold(cause=Cause.PAUSED, message=f"ConfigMap {where} has not been read yet")
    if facts.pause.is_over(now):
        return None
    return Hold(cause=Cause.PAUSED, message=facts.pause.describe(), until=facts.pause.until)


def excluded(facts: Circumstances, policies: Policies, _now: datetime) -> Hold | None:
    """The pod is one that this worker never evicts, or nobody can tell yet."""
    exclude, metadata = policies.exclude, facts.pod.metadata
    if metadata.namespace in exclude.namespaces:
        return _excluded(f"namespace {metadata.namespace} is excluded")
    if exclude.pod_selector is not None:
        if metadata.labels is LABELS_NOT_KEPT:
            return _excluded("the pod's labels are not known yet", for_good=False)
        if selects(exclude.pod_selector, metadata.labels):
            return _excluded("the pod's labels are excluded")
    if exclude.namespace_selector is not None:
        if facts.namespace_labels is None:
            message = f"the labels of namespace {metadata.namespace} are not known yet"
            return _excluded(message, for_good=False)
        if selects(exclude.namespace_selector, facts.namespace_labels):
            return _excluded(f"the labels of namespace {metadata.namespace} are excluded")
    return None


def protected(facts: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """The pod's annotation forbids it: for ever, or until an instant."""
    text = facts.pod.metadata.annotations.do_not_evict
    if not policies.protection or text is None or text == "false":
        return None
    if text == "true":
        return _protected("annotation bailiff.dev/do-not-evict is true")
    try:
        until = parse_time(text)
    except ValueError:
        return _protected(
            f"annotation bailiff.dev/do-not-evict is {text[:50]!r}: expected true, false, or an "
            "instant as 2026-01-31T12:00:00Z"
        )
    if until <= now:
        return None
    return _protected(
        f"annotation bailiff.dev/do-not-evict holds until {describe_time(until)}", until
    )


def foreign_slice(facts: Circumstances, policies: Policies, _now: datetime) -> Hold | None:
    """A slice taints the pod's device that is of another node than the pod."""
    publisher, node = facts.publisher, facts.pod.spec.node_name
    if not policies.own_slices_only or publisher is None or not is_foreign(publisher, node):
        return None
    message = (
        f"ResourceSlice {publisher.resource_slice} is of node {publisher.node} and taints a device "
        f"that a pod of node {node} uses"
    )
    return Hold(cause=Cause.FOREIGN_SLICE, message=message)


def blast_radius(facts: Circumstances, policies: Policies, _now: datetime) -> Hold | None:
    """The cause evicts too much for nobody to have acknowledged it."""
    bounds = policies.blast_radius
    if bounds is None:
        return None
    if facts.blast is None:
        message = "it is not known yet how many pods the same cause evicts"
        return Hold(cause=Cause.BLAST_RADIUS, message=message)
    why = blast_excess(facts.blast, bounds, facts.pod.metadata.namespace)
    if why is None:
        return None
    if facts.node is not None and is_acknowledged(facts.node, facts.blast.cause):
        return None
    node = facts.pod.spec.node_name
    message = f"{why}, and node {node} does not acknowledge it ({ANNOTATION})"
    return Hold(cause=Cause.BLAST_RADIUS, message=message)


def outside_window(_facts: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """No window is open."""
    if not policies.windows or open_at(now, policies.windows):
        return None
    opening = next_opening(now, policies.windows)
    then = f"the next opens at {describe_time(opening)}" if opening else "none opens for two weeks"
    message = f"outside the windows, {then}"
    return Hold(cause=Cause.OUTSIDE_WINDOW, message=message, until=opening)


def breaker_stopped(facts: Circumstances, policies: Policies, _now: datetime) -> Hold | None:
    """So many nodes fail that evictions have stopped, in the zone or in the cluster."""
    if policies.breakers.zone is not None:
        found = _stopped(facts.zone_breaker, describe_zone(facts.zone))
        if found is not None:
            return found
    if policies.breakers.cluster is not None:
        return _stopped(facts.cluster_breaker, "cluster")
    return None


def gang_stays(facts: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """Another pod of its gang may not go, or nobody can tell yet which pods it has."""
    name = group_of(facts.pod)
    if policies.gangs is None or not name or facts.gang is None:
        return None
    if facts.gang is UNKNOWN:
        return Hold(cause=Cause.GANG, message=f"PodGroup {name} has not been read yet")
    for other in facts.gang.others:
        found = _first(_RULES_OF_ONE, other, policies, now)
        if found is not None:
            who = other.pod.metadata.name
            message = f"PodGroup {name} goes whole, and pod {who} may not go: {found.message}"
            return replace(found, cause=Cause.GANG, message=message)
    return None


def over_time(facts: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """A budget over time is used up, for the pod or for its gang, by what is known of it."""
    settings = policies.over_time
    if settings is None:
        return None
    wishes = wishes_of(facts, settings)
    if isinstance(wishes, Hold):
        return wishes
    if not any(wish.places for wish in wishes):
        return None
    if facts.book is UNKNOWN:
        return uncounted(settings, "has not been read yet")
    return room_for(facts.book, wishes, now)


def wishes_of(
    facts: Circumstances, settings: OverTime | None, way: Way = Way.BY_UID
) -> list[Wish] | Hold:
    """What is to be counted before the pod goes: it, and all of its gang.

    A Hold where it is not known yet whom budgets count. Without settings nothing is counted.

    Args:
        facts: of the pod.
        settings: the budgets.
        way: how the pod is to go. The others go later.
    """
    if settings is None:
        return []
    others = [(one, Way.LATER) for one in gang_of(facts)]
    wishes = [wish_of(one.pod, one.zone, settings, how) for one, how in ((facts, way), *others)]
    found = [wish for wish in wishes if wish is not None]
    if len(found) < len(wishes):
        return Hold(cause=Cause.OVER_TIME, message="the pod's labels are not known yet")
    return found


def gang_of(facts: Circumstances) -> tuple[Circumstances, ...]:
    """The others of the pod's gang, as far as they are known."""
    return () if facts.gang is None or facts.gang is UNKNOWN else facts.gang.others


def uncounted(settings: OverTime, why: str) -> Hold | None:
    """What holds evictions that cannot be counted; None: by the settings they may go.

    Args:
        settings: say what happens then.
        why: what is wrong with the ConfigMap, as the end of a sentence.
    """
    if settings.unreadable is Unreadable.ALLOW:
        return None
    where = f"{settings.store.namespace}/{settings.store.name}"
    return Hold(cause=Cause.OVER_TIME, message=f"ConfigMap {where}, which counts evictions, {why}")


def group_of(pod: Pod) -> str:
    """The PodGroup of a pod as `namespace/name`; empty where it is of none."""
    group = pod.spec.scheduling_group
    name = None if group is None else group.pod_group_name
    return f"{pod.metadata.namespace}/{name}" if name else ""


if TYPE_CHECKING:
    Rule = Callable[[Circumstances, Policies, datetime], Hold | None]

_RULES_OF_ONE: tuple[Rule, ...] = (
    paused,
    excluded,
    protected,
    foreign_slice,
    blast_radius,
    outside_window,
    breaker_stopped,
)
_RULES: tuple[Rule, ...] = (*_RULES_OF_ONE, gang_stays, over_time)


def _first(
    rules: tuple[Rule, ...], facts: Circumstances, policies: Policies, now: datetime
) -> Hold | None:
    for rule in rules:
        found = rule(facts, policies, now)
        if found is not None:
            return found
    return None


def _stopped(state: BreakerState | None, where: str) -> Hold | None:
    if state is None:
        message = f"{where}: not known yet how many nodes fail"
        return Hold(cause=Cause.BREAKER_OPEN, message=message)
    if state.level is not BreakerLevel.STOPPED:
        return None
    return Hold(cause=Cause.BREAKER_OPEN, message=state.message)


def _excluded(message: str, *, for_good: bool = True) -> Hold:
    return Hold(cause=Cause.EXCLUDED, message=message, for_good=for_good)


def _protected(message: str, until: datetime | None = None) -> Hold:
    return Hold(cause=Cause.PROTECTED, message=message, until=until)
