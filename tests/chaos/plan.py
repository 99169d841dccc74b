"""How much of everything."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Turning:
    """Taints that go and come back.

    Attributes:
        timed: pods that are to be evicted within `spread` seconds of a taint that stays.
        spread: see there.
        returning: pods of each of three groups of nodes whose taints return.
        nodes: of each group, and of those whose taint stays.
        shortest: what the least patient of `returning` tolerate, seconds.
        longest: what the most patient tolerate.
        returns: how often taints go and come back.
        stays: seconds that a taint stays, before it goes. Less than `shortest`, and so much that
            what counts from one taint is over before what counts from the next.
        gone: seconds that it is gone at most.
        pause: seconds between two kinds of trouble.
        lasts: seconds that each lasts.
        fault_rate: share of the worker's requests that goes wrong besides.
        settle: seconds after the last deadline until what is not evicted counts as lost.
    """

    timed: int
    spread: int
    returning: int
    nodes: int
    shortest: int
    longest: int
    returns: int
    stays: float
    gone: float
    pause: float
    lasts: float
    fault_rate: float
    settle: float

    @property
    def latest(self) -> float:
        """Seconds after the first taint until nobody need wait any longer."""
        return max(self.returns * (self.stays + 2 * self.gone) + self.longest, self.spread)


@dataclass(frozen=True)
class Losing:
    """Nodes that fall silent.

    Attributes:
        nodes: of each of three zones, of which one is cut off.
        gone: of each of the other two, those that fall silent for good. Three more are lost
            otherwise, and all of them are less than half.
        kills: of the worker.
        settle: seconds after the last of it until what is not evicted counts as lost.
    """

    nodes: int
    gone: int
    kills: int
    settle: float


@dataclass(frozen=True)
class Plan:
    """The size of a run.

    Attributes:
        timed: pods that are to be evicted; 0 leaves that part out.
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
        turning: a third part, if any.
        losing: a fourth part, if any.
        certificate_life: seconds for which a client certificate of the two workers is good; they
            are rotated in place at half of it. 0: the workers have a token.
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
    turning: Turning | None = None
    losing: Losing | None = None
    certificate_life: float = 0.0


# What stays comparable from release to release.
OUTAGES = Plan(
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

FULL = replace(
    OUTAGES,
    timed=1000,
    spread=60,
    worker_kills=10,
    outages=3,
    certificate_life=20.0,
    losing=Losing(nodes=20, gone=6, kills=6, settle=60.0),
    turning=Turning(
        timed=600,
        spread=100,
        returning=200,
        nodes=10,
        shortest=35,
        longest=50,
        returns=2,
        stays=18.0,
        gone=6.0,
        pause=3.0,
        lasts=9.0,
        fault_rate=0.05,
        settle=60.0,
    ),
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
    losing=Losing(nodes=12, gone=2, kills=2, settle=45.0),
)

PLANS = {
    "full": FULL,
    "outages": OUTAGES,
    "returning": replace(FULL, timed=0, led=0, losing=None),
    "certificates": replace(FULL, timed=0, turning=None, losing=None),
    "losing": replace(FULL, timed=0, turning=None, led=0),
    "quick": QUICK,
}
