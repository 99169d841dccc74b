"""The rules by which an eviction that is due waits, in a fixed order; the first says why.

Each is off unless its policy is on. What a policy needs and nobody knows holds the eviction back:
fail closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from bailiff.decisions.policies.blast import (
    ANNOTATION,
    Blast,
    blast_excess,
    is_acknowledged,
)
from bailiff.decisions.policies.breaker import BreakerLevel, BreakerState, describe_zone
from bailiff.decisions.policies.hold import Cause, Hold
from bailiff.decisions.policies.pause import PauseNotice
from bailiff.decisions.policies.publisher import Publisher, is_foreign
from bailiff.decisions.policies.selectors import selects
from bailiff.decisions.policies.settings import NO_POLICIES
from bailiff.decisions.policies.windows import next_opening, open_at
from bailiff.decisions.text import describe_time
from bailiff.kinds import LABELS_NOT_KEPT, Node, Pod, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from bailiff.decisions.policies.settings import Policies


class Unknown(Enum):
    """What has not been read yet; not to be taken for absent."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN


class Circumstances(Struct, frozen=True, kw_only=True, gc=False):
    """What the rules may look at, at the moment an eviction would begin.

    A fact that no policy in force needs may be left out.

    Attributes:
        pod: who would be evicted.
        node: where it runs; None: not known.
        zone: of the node; empty where it has none.
        namespace_labels: of the pod's namespace; None: not known.
        pause: the notice, or None where nothing is paused.
        zone_breaker: what the breaker of the zone says; None: not known.
        cluster_breaker: what the breaker of the cluster says; None: not known.
        blast: what the cause that evicts the pod does besides; NO_BLAST where its system names
            none; None: not known.
        publisher: who published the ResourceSlice for whose taint the pod goes; None: it goes for
            something else.
    """

    pod: Pod
    node: Node | None = None
    zone: str = ""
    namespace_labels: Mapping[str, str] | None = None
    pause: PauseNotice | Literal[Unknown.UNKNOWN] | None = UNKNOWN
    zone_breaker: BreakerState | None = None
    cluster_breaker: BreakerState | None = None
    blast: Blast | None = None
    publisher: Publisher | None = None


def hold(circumstances: Circumstances, policies: Policies, now: datetime) -> Hold | None:
    """Why the eviction waits; None: by the policies it may begin.

    Args:
        circumstances: the facts.
        policies: what the operator asked for.
        now: the instant to decide for.
    """
    for rule in _RULES:
        found = rule(circumstances, policies, now)
        if found is not None:
            return found
    return None


def may_hold(policies: Policies) -> bool:
    """Whether any of them says when an eviction may begin; the Eviction API says how it is done."""
    return replace(policies, eviction_api=None) != NO_POLICIES


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
            return _excluded("the pod's labels are not known yet")
        if selects(exclude.pod_selector, metadata.labels):
            return _excluded("the pod's labels are excluded")
    if exclude.namespace_selector is not None:
        if facts.namespace_labels is None:
            return _excluded(f"the labels of namespace {metadata.namespace} are not known yet")
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


if TYPE_CHECKING:
    Rule = Callable[[Circumstances, Policies, datetime], Hold | None]

_RULES: tuple[Rule, ...] = (
    paused,
    excluded,
    protected,
    foreign_slice,
    blast_radius,
    outside_window,
    breaker_stopped,
)


def _stopped(state: BreakerState | None, where: str) -> Hold | None:
    if state is None:
        message = f"{where}: not known yet how many nodes fail"
        return Hold(cause=Cause.BREAKER_OPEN, message=message)
    if state.level is not BreakerLevel.STOPPED:
        return None
    return Hold(cause=Cause.BREAKER_OPEN, message=state.message)


def _excluded(message: str) -> Hold:
    return Hold(cause=Cause.EXCLUDED, message=message)


def _protected(message: str, until: datetime | None = None) -> Hold:
    return Hold(cause=Cause.PROTECTED, message=message, until=until)
