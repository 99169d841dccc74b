"""What a scene is, and the series of a release that is well."""

from __future__ import annotations

from typing import NamedTuple

LEADER = 'job="bailiff-worker",namespace="bailiff",instance="1",pod="worker-1"'
STANDBY = 'job="bailiff-worker",namespace="bailiff",instance="2",pod="worker-2"'
API = 'job="bailiff-api",namespace="bailiff",instance="3",pod="api"'
AGENT = 'job="bailiff/bailiff-agent",namespace="bailiff",instance="4",pod="agent"'
# In the notation of promtool: a value at each minute; `x200` repeats it, `+5x200` adds to it.
WELL = {
    f"bailiff_worker_leader{{{LEADER}}}": "1x200",
    f"bailiff_worker_leader{{{STANDBY}}}": "0x200",
    f"bailiff_worker_shards{{{LEADER}}}": "1x200",
    f"bailiff_worker_shards{{{STANDBY}}}": "1x200",
    f"bailiff_rest_requests_in_flight{{{API}}}": "0x200",
    f"bailiff_agent_since_round_seconds{{{AGENT}}}": "9x200",
}
# Of a counter that begins with its first event, ten minutes after the start.
FIRST_AFTER_TEN = "_x10 1x90"
# Of a counter that rises every other minute.
SLOWLY = " ".join(str(minute // 2) for minute in range(100))


class Scene(NamedTuple):
    """Series beside, or in place of, those of a release that is well; None takes one away.

    Attributes:
        name: what happens.
        series: by name and labels, in the notation of promtool.
        minutes: when it is looked at.
        fire: the alerts that fire then, without `Bailiff`; no other does.
    """

    name: str
    series: dict[str, str | None]
    minutes: int
    fire: frozenset[str] | set[str] = frozenset()

    def whole(self) -> dict[str, str]:
        """All series that there are."""
        return {name: values for name, values in (WELL | self.series).items() if values}


def of(metric: str, where: str, values: str, **labels: str) -> dict[str, str | None]:
    """A series of a process, or of none (`name="x"`)."""
    more = "".join(f',{name}="{value}"' for name, value in labels.items())
    return {f"{metric}{{{where}{more}}}": values}


def buckets(
    histogram: str, where: str, rises: dict[str, int], **labels: str
) -> dict[str, str | None]:
    """A histogram whose buckets rise by so much a minute."""
    found: dict[str, str | None] = {}
    for le, rise in rises.items():
        found |= of(f"{histogram}_bucket", where, f"0+{rise}x200", **labels, le=le)
    return found


def leads(leader: str, standby: str) -> dict[str, str | None]:
    """Who leads when."""
    of_both = of("bailiff_worker_leader", LEADER, leader)
    return of_both | of("bailiff_worker_leader", STANDBY, standby)
