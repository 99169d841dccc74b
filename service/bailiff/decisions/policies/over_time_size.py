"""Whether the counts of budgets over time fit into their ConfigMap. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies.over_time_counts import EVICTION_BYTES
from bailiff.decisions.policies.over_time_settings import MAX_BYTES, MAX_BYTES_APART, Per

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies.over_time_settings import OverTime, OverTimeBudget

# A budget of fewer namespaces, nodes or zones than this is likely to be full one day.
_FEW = 20


def crowding(over_time: OverTime) -> Iterator[str]:
    """What will wait though its budget has room, since the counts find no place; a line each."""
    apart = [one for one in over_time.budgets if one.per is not Per.CLUSTER]
    together = sum(one.most for one in over_time.budgets if one.per is Per.CLUSTER)
    most = (MAX_BYTES - (MAX_BYTES_APART if apart else 0)) // EVICTION_BYTES
    if together > most:
        yield (
            f"overTime: budgets per Cluster could count {together} evictions, and the ConfigMap "
            f"holds about {most} of them: beyond that all that are counted wait"
        )
    most = over_time.bytes_apart // EVICTION_BYTES
    yield from (_crowded(one, most) for one in apart if most // one.most < _FEW)


def _crowded(budget: OverTimeBudget, most: int) -> str:
    return (
        f"overTime: budget {budget.name} has room for about {most} counts, which "
        f"{most / budget.most:.3g} full columns (per {budget.per.value}) use up: beyond that "
        "its pods wait"
    )
