"""What of a change of the policies lets more be evicted, sooner, or with less asked.

For people who look after a cluster: whoever may write the policies can take away all that bounds a
worker, by a file that is as valid as any. So each field says here how it may be weakened, and one
that says nothing is an error. Where it cannot be told, as between two label selectors, it counts as
weakened: a word too many is better than one too few.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from bailiff.decisions.policies.over_time_settings import (
    Gangs,
    OverTime,
    OverTimeBudget,
    Store,
    Unreadable,
)
from bailiff.decisions.policies.settings import (
    BlastRadius,
    Breaker,
    Breakers,
    EvictionApi,
    Exclusion,
    Limit,
    Limits,
    Pause,
    Policies,
    Weekday,
)
from bailiff.decisions.policies.windows import minutes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from bailiff.decisions.policies.fields import LabelSelector, Requirement, Settings
    from bailiff.decisions.policies.settings import Window

# Of a value that a text repeats, and of the names that it lists.
_MAX_SHOWN, _MAX_NAMES = 60, 5
_DAY = 24 * 60
_WEEK = 7 * _DAY

# The place in the file, what stood there, and what stands there now.
Compare: TypeAlias = "Callable[[str, Any, Any], Iterator[str]]"


def fingerprint(policies: Policies) -> str:
    """`sha256:` and twelve digits: the same for the same policies, however a file writes them."""
    text = msgspec.json.encode(policies, order="sorted")
    return f"sha256:{hashlib.sha256(text).hexdigest()[:12]}"


def weakenings(before: Policies, after: Policies) -> list[str]:
    """What became weaker, each as `limits.total.perSecond: 20 now, 2 before`; none: nothing.

    Args:
        before: the policies that were in force.
        after: those that take their place.
    """
    return list(_fields("", before, after))


def _fields(path: str, before: Settings, after: Settings) -> Iterator[str]:
    """All fields of two values of one type."""
    rules, kind = FIELDS[type(before)], type(before)
    for field in msgspec.structs.fields(kind):
        needed = _MEANS_WITH.get((kind, field.name))
        if needed is not None and getattr(before, needed) is None:
            continue
        place = f"{path}.{field.encode_name}".lstrip(".")
        was, now = getattr(before, field.name), getattr(after, field.name)
        yield from rules[field.name](place, was, now)


def _part(path: str, before: Settings | None, after: Settings | None) -> Iterator[str]:
    """A policy that is off where it is absent."""
    if before is None:
        return
    if after is None:
        yield f"{path}: taken away"
    else:
        yield from _fields(path, before, after)


def _most(path: str, before: float | None, after: float | None) -> Iterator[str]:
    """What may not be exceeded; absent: it is not bounded. Or at which a breaker acts."""
    if before is not None and (after is None or after > before):
        yield _changed(path, before, after)


def _least(path: str, before: float | None, after: float | None) -> Iterator[str]:
    """Seconds to wait; absent: for ever."""
    if after is not None and (before is None or after < before):
        yield _changed(path, before, after)


def _switch(path: str, before: object, after: object) -> Iterator[str]:
    if before and not after:
        yield f"{path}: switched off"


def _same(path: str, before: object, after: object) -> Iterator[str]:
    """Any other value may be one that nobody has looked at."""
    if after != before:
        yield _changed(path, before, after)


def _order_only(_path: str, _before: object, _after: object) -> Iterator[str]:
    """Says who goes first, and not whether or when anybody goes."""
    yield from ()


def _names(path: str, before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[str]:
    gone = sorted(set(before) - set(after))
    if gone:
        more = f" and {len(gone) - _MAX_NAMES} more" if len(gone) > _MAX_NAMES else ""
        yield f"{path}: without {', '.join(gone[:_MAX_NAMES])}{more}"


def _selector(
    path: str, before: LabelSelector | None, after: LabelSelector | None
) -> Iterator[str]:
    """What it chooses is excluded; one that asks for less chooses no fewer."""
    if before is None:
        return
    if after is None:
        yield f"{path}: taken away"
    elif not _asks_no_more(before, after):
        yield f"{path}: another selector, which may choose fewer"


def _asks_no_more(before: LabelSelector, after: LabelSelector) -> bool:
    labels = before.match_labels.items() >= after.match_labels.items()
    return labels and all(
        any(_asks_the_same(one, other) for other in before.match_expressions)
        for one in after.match_expressions
    )


def _asks_the_same(one: Requirement, other: Requirement) -> bool:
    return (one.key, one.operator, set(one.values)) == (
        other.key,
        other.operator,
        set(other.values),
    )


def _budgets(
    path: str, before: tuple[OverTimeBudget, ...], after: tuple[OverTimeBudget, ...]
) -> Iterator[str]:
    """By their names. One that selects or counts otherwise may count fewer pods together."""
    now = {one.name: one for one in after}
    for budget in before:
        yield from _part(f"{path}[{budget.name}]", budget, now.get(budget.name))


def _unreadable(path: str, before: Unreadable, after: Unreadable) -> Iterator[str]:
    if after is Unreadable.ALLOW and before is not after:
        yield _changed(path, before.value, after.value)


def _windows(path: str, before: tuple[Window, ...], after: tuple[Window, ...]) -> Iterator[str]:
    """Evictions begin in these only; without any, at any time."""
    if not before:
        return
    if not after:
        yield f"{path}: taken away"
        return
    were = _open_minutes(before)
    for zone, now in _open_minutes(after).items():
        more = (now & ~were.get(zone, 0)).bit_count()
        if more:
            yield f"{path}: {more} minutes a week more in time zone {zone}"


def _open_minutes(windows: tuple[Window, ...]) -> dict[str, int]:
    """By time zone the minutes of a week, from Monday on, of which one bit is each."""
    found: dict[str, int] = {}
    for window in windows:
        start, end = minutes(window.start), minutes(window.end)
        length = end - start if start < end else end - start + _DAY
        for day in window.days or tuple(Weekday):
            opens = tuple(Weekday).index(day) * _DAY + start
            bits = ((1 << length) - 1) << opens
            whole = (bits | bits >> _WEEK) & ((1 << _WEEK) - 1)
            found[window.time_zone] = found.get(window.time_zone, 0) | whole
    return found


def _changed(path: str, before: object, after: object) -> str:
    if after is None:
        return f"{path}: taken away, {_shown(before)} before"
    return f"{path}: {_shown(after)} now, {'never' if before is None else _shown(before)} before"


def _shown(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:g}"
    return msgspec.json.encode(value).decode()[:_MAX_SHOWN]


# How each field of each part may be weakened.
FIELDS: Mapping[type[Settings], Mapping[str, Compare]] = {
    Policies: {
        "eviction_api": _part,
        "limits": _fields,
        "drain_order": _order_only,
        "breakers": _fields,
        "pause": _part,
        "protection": _switch,
        "exclude": _fields,
        "own_slices_only": _switch,
        "windows": _windows,
        "blast_radius": _part,
        "over_time": _part,
        "gangs": _part,
    },
    EvictionApi: {"deadline_seconds": _least},
    Limits: {
        "total": _part,
        "per_node": _part,
        "per_namespace": _part,
        "per_zone": _part,
        "per_slice_publisher": _part,
        "per_slice_driver": _part,
    },
    Limit: {"per_second": _most, "burst": _most, "concurrency": _most},
    Breakers: {"zone": _part, "cluster": _part},
    Breaker: {
        "slow_at": _most,
        "slow_per_second": _most,
        "stop_at": _most,
        "min_nodes": _most,
        "min_failing": _most,
    },
    Pause: {"namespace": _same, "name": _same},
    Exclusion: {
        "namespaces": _names,
        "namespace_selector": _selector,
        "pod_selector": _selector,
    },
    OverTime: {"budgets": _budgets, "store": _fields, "unreadable": _unreadable},
    OverTimeBudget: {
        "name": _same,
        "evictions": _most,
        "nodes": _most,
        "seconds": _least,
        "per": _same,
        "namespaces": _same,
        "pod_selector": _same,
    },
    Store: {"namespace": _same, "name": _same},
    Gangs: {},
    BlastRadius: {
        "max_pods": _most,
        "max_namespace_fraction": _most,
        "min_namespace_pods": _most,
    },
}
# What means nothing where another field is absent.
_MEANS_WITH: Mapping[tuple[type[Settings], str], str] = {
    (Limit, "burst"): "per_second",
    (BlastRadius, "min_namespace_pods"): "max_namespace_fraction",
}
