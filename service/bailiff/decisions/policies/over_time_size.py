"""Whether the counts of budgets over time fit into their ConfigMap. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies.over_time_counts import MOST_APART
from bailiff.decisions.policies.over_time_settings import Per

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies.over_time_settings import OverTime, OverTimeBudget

# Evictions: MAX_BYTES of the book, by 31 bytes each.
_MOST = 2 * MOST_APART
# A budget of fewer namespaces, nodes or zones than this is likely to be full one day.
_FEW = 20


def crowding(over_time: OverTime) -> Iterator[str]:
    """What will wait though its budget has room, since the counts find no place; a line each."""
    together = sum(one.evictions for one in over_time.budgets if one.per is Per.CLUSTER)
    if together > _MOST:
        yield (
            f"overTime: budgets per Cluster could count {together} evictions, and the ConfigMap "
            f"holds about {_MOST}: beyond that all that are counted wait"
        )
    yield from (_crowded(one) for one in over_time.budgets if _is_crowded(one))


def _is_crowded(budget: OverTimeBudget) -> bool:
    return budget.per is not Per.CLUSTER and MOST_APART // budget.evictions < _FEW


def _crowded(budget: OverTimeBudget) -> str:
    apart = MOST_APART / budget.evictions
    return (
        f"overTime: budget {budget.name} keeps {MOST_APART} counts, which {apart:.3g} full columns "
        f"(per {budget.per.value}) use up: beyond that its pods wait"
    )
