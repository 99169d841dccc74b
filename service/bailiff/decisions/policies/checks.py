"""What the types of the policies cannot tell: values that contradict each other or mean nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bailiff.decisions.policies.fields import Operator
from bailiff.decisions.policies.over_time_settings import Per
from bailiff.kinds.names import KEY_RULE, VALUE_RULE, is_label_key, is_label_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies.fields import LabelSelector, Requirement
    from bailiff.decisions.policies.over_time_settings import OverTime, OverTimeBudget
    from bailiff.decisions.policies.settings import (
        BlastRadius,
        Breaker,
        Exclusion,
        Limit,
        Pause,
        Policies,
        Window,
    )

# A place in the file and what is wrong there.
Fault = tuple[str, str]


def faults(policies: Policies) -> Iterator[Fault]:
    """All that is wrong, in the order of the fields."""
    limits, breakers = policies.limits, policies.breakers
    yield from _limit("$.limits.total", limits.total)
    yield from _limit("$.limits.perNode", limits.per_node)
    yield from _limit("$.limits.perNamespace", limits.per_namespace)
    yield from _limit("$.limits.perZone", limits.per_zone)
    yield from _limit("$.limits.perSlicePublisher", limits.per_slice_publisher)
    yield from _limit("$.limits.perSliceDriver", limits.per_slice_driver)
    yield from _breaker("$.breakers.zone", breakers.zone)
    yield from _breaker("$.breakers.cluster", breakers.cluster)
    yield from _pause("$.pause", policies.pause)
    yield from _exclusion("$.exclude", policies.exclude)
    for index, window in enumerate(policies.windows):
        yield from _window(f"$.windows[{index}]", window)
    yield from _blast_radius("$.blastRadius", policies.blast_radius)
    yield from _over_time("$.overTime", policies.over_time)


def _limit(path: str, limit: Limit | None) -> Iterator[Fault]:
    if limit is None:
        return
    if limit.per_second is None and limit.concurrency is None:
        yield path, "limits nothing: set perSecond, concurrency or both"
    if limit.per_second is None and limit.burst > 1:
        yield f"{path}.burst", "means nothing without perSecond"


def _breaker(path: str, breaker: Breaker | None) -> Iterator[Fault]:
    if breaker is not None and breaker.slow_at > breaker.stop_at:
        yield (
            f"{path}.slowAt",
            f"must not be above stopAt: {breaker.slow_at:g} is above {breaker.stop_at:g}",
        )


def _pause(path: str, pause: Pause | None) -> Iterator[Fault]:
    if pause is None:
        return
    yield from _one_line(f"{path}.namespace", pause.namespace)
    yield from _one_line(f"{path}.name", pause.name)


def _exclusion(path: str, exclude: Exclusion) -> Iterator[Fault]:
    for index, namespace in enumerate(exclude.namespaces):
        yield from _one_line(f"{path}.namespaces[{index}]", namespace)
    yield from _selector(f"{path}.namespaceSelector", exclude.namespace_selector)
    yield from _selector(f"{path}.podSelector", exclude.pod_selector)


def _selector(path: str, selector: LabelSelector | None) -> Iterator[Fault]:
    """Source: apimachinery pkg/apis/meta/v1/validation, ValidateLabelSelector."""
    if selector is None:
        return
    for key, value in selector.match_labels.items():
        if not is_label_key(key):
            yield f"{path}.matchLabels", f"{key[:100]!r} {KEY_RULE}"
        if not is_label_value(value):
            yield f"{path}.matchLabels.{key[:100]}", VALUE_RULE
    for index, requirement in enumerate(selector.match_expressions):
        yield from _requirement(f"{path}.matchExpressions[{index}]", requirement)


def _requirement(path: str, requirement: Requirement) -> Iterator[Fault]:
    if not is_label_key(requirement.key):
        yield f"{path}.key", KEY_RULE
    if requirement.operator in (Operator.IN, Operator.NOT_IN):
        if not requirement.values:
            yield f"{path}.values", "required: In and NotIn need at least one"
    elif requirement.values:
        yield f"{path}.values", "not allowed: Exists and DoesNotExist take none"
    for index, value in enumerate(requirement.values):
        if not is_label_value(value):
            yield f"{path}.values[{index}]", VALUE_RULE


def _window(path: str, window: Window) -> Iterator[Fault]:
    if window.start == window.end:
        yield f"{path}.end", "must not be start; a whole day is 00:00 to 24:00"
    yield from _one_line(f"{path}.start", window.start)
    yield from _one_line(f"{path}.end", window.end)
    try:
        ZoneInfo(window.time_zone)
    except (ValueError, OSError, LookupError):
        # LookupError is ZoneInfoNotFoundError; a directory of zones is an OSError.
        yield (
            f"{path}.timeZone",
            f"unknown: {window.time_zone!r} is no name as Europe/Berlin or UTC",
        )


def _blast_radius(path: str, bounds: BlastRadius | None) -> Iterator[Fault]:
    if bounds is not None and bounds.max_pods is None and bounds.max_namespace_fraction is None:
        yield path, "bounds nothing: set maxPods, maxNamespaceFraction or both"


def _over_time(path: str, over_time: OverTime | None) -> Iterator[Fault]:
    if over_time is None:
        return
    seen: set[str] = set()
    for index, budget in enumerate(over_time.budgets):
        at = f"{path}.budgets[{index}]"
        if budget.name in seen:
            yield f"{at}.name", f"{budget.name!r} is another budget's: their counts would be one"
        seen.add(budget.name)
        yield from _counts(at, budget)
        yield from _one_line(f"{at}.name", budget.name)
        for number, namespace in enumerate(budget.namespaces):
            yield from _one_line(f"{at}.namespaces[{number}]", namespace)
        yield from _selector(f"{at}.podSelector", budget.pod_selector)
    yield from _one_line(f"{path}.store.namespace", over_time.store.namespace)
    yield from _one_line(f"{path}.store.name", over_time.store.name)


def _counts(path: str, budget: OverTimeBudget) -> Iterator[Fault]:
    if budget.evictions is None and budget.nodes is None:
        yield path, "bounds nothing: set evictions or nodes"
    elif budget.evictions is not None and budget.nodes is not None:
        yield f"{path}.nodes", "not allowed beside evictions: make it a budget of its own"
    if budget.nodes is not None and budget.per is Per.NODE:
        yield f"{path}.per", "means nothing with nodes: those of each node are one"


def _one_line(path: str, text: str) -> Iterator[Fault]:
    """A pattern's `$` also matches before a line feed, in Python."""
    if text.endswith("\n"):
        yield path, "must not end with a line feed"
