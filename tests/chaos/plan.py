"""How much of everything."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """The size of a run.

    Attributes:
        timed: pods that are to be evicted.
        spread: their tolerationSeconds go from 1 to this.
        nodes: that carry them.
        reborn: pods that are replaced under the same name by one that tolerates for ever.
        cancelled: pods on a node that is untainted in time.
        forever: pods that tolerate for ever.
        worker_kills: kill -9 and restart.
        outages: the API server killed and restarted, etcd compacted meanwhile.
        fault_rate: share of the worker's requests that goes wrong.
        led: pods to be evicted by two workers with one Lease; 0 leaves that out.
        led_spread: their tolerationSeconds.
        stops: how often the leader is stopped and continued.
        unhurried: seconds after the last of those deadlines until those of the reborn, who are
            replaced before, and of the cancelled, whose node is untainted before.
        settle: seconds after the last deadline until what is not evicted counts as lost.
    """

    timed: int
    spread: int
    nodes: int
    reborn: int
    cancelled: int
    forever: int
    worker_kills: int
    outages: int
    fault_rate: float
    led: int
    led_spread: int
    stops: int
    unhurried: int
    settle: float


FULL = Plan(
    timed=2000,
    spread=120,
    nodes=40,
    reborn=40,
    cancelled=40,
    forever=20,
    worker_kills=20,
    outages=5,
    fault_rate=0.15,
    led=400,
    led_spread=60,
    stops=2,
    unhurried=30,
    settle=60.0,
)

QUICK = Plan(
    timed=150,
    spread=20,
    nodes=6,
    reborn=6,
    cancelled=10,
    forever=5,
    worker_kills=3,
    outages=1,
    fault_rate=0.15,
    led=0,
    led_spread=0,
    stops=0,
    unhurried=20,
    settle=40.0,
)
