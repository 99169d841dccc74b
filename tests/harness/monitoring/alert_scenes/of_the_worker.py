"""Leaders, watches, evictions, policies and devices."""

from __future__ import annotations

from tests.harness.monitoring.alert_scenes.base import (
    API,
    FIRST_AFTER_TEN,
    LEADER,
    STANDBY,
    WELL,
    Scene,
    buckets,
    leads,
    of,
)

_THIRD = 'job="bailiff-worker",namespace="bailiff",instance="5",pod="worker-3"'
_TWO_NUMBERS = (
    of("bailiff_worker_shards", STANDBY, "2x200")
    | leads("1x200", "1x200")
    | of("bailiff_worker_leader", _THIRD, "0x200")
)
_BACKLOG = "bailiff_worker_backlog"
_REFUSED, _UNREADABLE = (f"bailiff_worker_{one}_objects_total" for one in ("refused", "unreadable"))
_STATUS_WRITES = "bailiff_worker_rule_status_writes_total"

LEADING = [
    Scene("all is well", {}, 100),
    Scene("nobody leads", leads("0x200", "0x200"), 3, {"NoLeader"}),
    Scene("another leads at once", leads("1x4 0x200", "0x4 1x200"), 10),
    Scene(
        "nothing is scraped",
        dict.fromkeys(WELL),
        20,
        {"NoLeader", "RequestsRefusedAbsent", "AgentReadingsOldAbsent"},
    ),
    Scene(
        "a Lease is not renewed",
        of("bailiff_worker_lease_renewal_age_seconds", LEADER, "9x200"),
        3,
        {"NoLeaderRenewalsFail"},
    ),
    Scene(
        "a Lease is renewed late",
        of("bailiff_worker_lease_renewal_age_seconds", LEADER, "8x200"),
        3,
    ),
    Scene("workers have two numbers of shards", _TWO_NUMBERS, 20, {"ShardsDiffer"}),
    Scene("for ten minutes, while they are changed", _TWO_NUMBERS, 10),
    Scene("both lead one shard", leads("1x200", "1x200"), 8, {"ShardsDifferTooManyLeaders"}),
    Scene(
        "a standby is gone",
        {f"bailiff_worker_{one}{{{STANDBY}}}": None for one in ("leader", "shards")},
        20,
        {"NoStandby"},
    ),
    Scene(
        "another release has no leader",
        of("bailiff_worker_leader", 'job="bailiff-worker",namespace="other",instance="9"', "0x200")
        | of("bailiff_worker_shards", 'job="bailiff-worker",namespace="other",instance="9"', "4x9"),
        30,
    ),
    Scene(
        "a clock is behind",
        of("bailiff_worker_clock_skew_seconds", LEADER, "-2x200"),
        8,
        {"ClockWrong"},
    ),
    Scene("by a second", of("bailiff_worker_clock_skew_seconds", LEADER, "-1x200"), 8),
    Scene(
        "an event loop is late",
        buckets("bailiff_worker_loop_lag_seconds", LEADER, {"0.25": 90, "0.5": 100, "+Inf": 100}),
        20,
        {"WorkerLacksCpu"},
    ),
    Scene(
        "by less than a quarter of a second",
        buckets("bailiff_worker_loop_lag_seconds", LEADER, {"0.1": 90, "0.25": 100, "+Inf": 100}),
        20,
    ),
]

WATCHING = [
    Scene(
        "a worker does not come to its end of listing",
        of("bailiff_worker_synced", STANDBY, "0x200"),
        8,
        {"WorkerNotSynced"},
    ),
    Scene("it does after three minutes", of("bailiff_worker_synced", STANDBY, "0x3 1x200"), 8),
    Scene(
        "a watch does not stand",
        of("bailiff_worker_mirror_age_seconds", LEADER, "0+60x200", resource="pods"),
        10,
        {"WatchStale"},
    ),
    Scene(
        "a watch begins anew",
        of("bailiff_worker_mirror_age_seconds", LEADER, "200x200", resource="pods"),
        10,
    ),
    Scene(
        "the API server is busy",
        of("bailiff_worker_api_backoff_seconds", LEADER, "5x200"),
        20,
        {"ApiServerBusy"},
    ),
    Scene(
        "every third minute",
        of("bailiff_worker_api_backoff_seconds", LEADER, "5 0 0 " * 20),
        20,
    ),
    Scene(
        "an object is beyond the limits",
        of(_REFUSED, LEADER, FIRST_AFTER_TEN, resource="resourceslices", reason="generation"),
        12,
        {"ObjectsLeftOut"},
    ),
    Scene(
        "it was long ago",
        of(_REFUSED, LEADER, FIRST_AFTER_TEN, resource="resourceslices", reason="generation"),
        60,
    ),
    Scene(
        "a pod cannot be decoded",
        of(_UNREADABLE, LEADER, FIRST_AFTER_TEN, resource="pods"),
        12,
        {"ObjectsLeftOutUnreadable"},
    ),
    Scene(
        "it could not, long ago",
        of(_UNREADABLE, LEADER, FIRST_AFTER_TEN, resource="pods"),
        60,
    ),
]

EVICTING = [
    Scene(
        "evictions are two minutes late",
        buckets("bailiff_worker_lateness_seconds", LEADER, {"60.0": 90, "120.0": 100, "+Inf": 100}),
        20,
        {"EvictionsLate"},
    ),
    Scene(
        "less than a minute",
        buckets("bailiff_worker_lateness_seconds", LEADER, {"30.0": 90, "60.0": 100, "+Inf": 100}),
        20,
    ),
    Scene(
        "a leader has more to do than it does",
        of(_BACKLOG, LEADER, "7x200", cause="due"),
        15,
        {"EvictionsLateDue"},
    ),
    Scene("a standby does not do it", of(_BACKLOG, STANDBY, "7x200", cause="due"), 15),
    Scene("evictions wait for their time", of(_BACKLOG, LEADER, "7x200", cause="waiting"), 90),
    Scene(
        "changes are not evaluated",
        of("bailiff_worker_evaluator_backlog", LEADER, "1001x200"),
        5,
        {"EvictionsLateEvaluation"},
    ),
    Scene("a thousand", of("bailiff_worker_evaluator_backlog", LEADER, "1000x200"), 5),
    Scene(
        "an eviction is denied",
        of(_BACKLOG, LEADER, "1x200", cause="denied"),
        15,
        {"EvictionsDenied"},
    ),
    Scene("a few times", of(_BACKLOG, LEADER, "1x8 0x200", cause="denied"), 15),
    Scene(
        "the API server does not answer",
        of(_BACKLOG, LEADER, "1x200", cause="unreachable"),
        15,
    ),
    Scene(
        "evictions are paused for long",
        of(_BACKLOG, LEADER, "7x200", cause="paused"),
        40,
        {"EvictionsPaused"},
    ),
    Scene("for a moment", of(_BACKLOG, LEADER, "7x20 0x90", cause="paused"), 40),
    Scene(
        "a standby has a pause to tell of",
        of(_BACKLOG, STANDBY, "7x200", cause="paused"),
        40,
    ),
    Scene(
        "a budget blocks an eviction",
        of(_BACKLOG, LEADER, "1x200", cause="budget"),
        40,
        {"BlockedByABudget"},
    ),
    Scene("a standby has no budget for it", of(_BACKLOG, STANDBY, "1x200", cause="budget"), 40),
    Scene("for twenty minutes", of(_BACKLOG, LEADER, "1x200", cause="budget"), 20),
    Scene(
        "a taint would evict too many",
        of(_BACKLOG, LEADER, "40x200", cause="blast_radius"),
        8,
        {"BlastRadius"},
    ),
    Scene(
        "a standby sees that taint",
        of(_BACKLOG, STANDBY, "40x200", cause="blast_radius"),
        8,
    ),
    Scene(
        "evictions wait for their window",
        of(_BACKLOG, LEADER, "40x200", cause="outside_window"),
        90,
    ),
    Scene(
        "a zone's breaker is open",
        of("bailiff_worker_breaker_state", LEADER, "1x200", zone="a"),
        8,
        {"BreakerOpen"},
    ),
    Scene(
        "on a standby",
        of("bailiff_worker_breaker_state", STANDBY, "2x200", zone="a"),
        8,
    ),
    Scene(
        "the cluster's breaker is open",
        of("bailiff_worker_cluster_breaker_state", LEADER, "2x200"),
        8,
        {"BreakerOpenCluster"},
    ),
    Scene(
        "that of a standby",
        of("bailiff_worker_cluster_breaker_state", STANDBY, "2x200"),
        8,
    ),
]

_CURRENT = "bailiff_worker_policies_current"
_WEAKENED = "bailiff_worker_policy_weakenings_total"

POLICIES_AND_DEVICES = [
    Scene("a new file cannot be used", of(_CURRENT, API, "0x200"), 8, {"PoliciesNotCurrent"}),
    Scene("it is mended soon", of(_CURRENT, API, "0x3 1x200"), 8),
    Scene(
        "a pause was deleted",
        of(_WEAKENED, LEADER, "0x10 1x200", what="pause"),
        15,
        {"PoliciesWeakened"},
    ),
    Scene("an hour ago", of(_WEAKENED, LEADER, "0x10 1x200", what="pause"), 70),
    Scene(
        "processes have different policies",
        of("bailiff_worker_policies_info", LEADER, "1x200", hash="a")
        | of("bailiff_worker_policies_info", API, "1x200", hash="b"),
        20,
        {"PoliciesDiffer"},
    ),
    Scene(
        "all have the same",
        of("bailiff_worker_policies_info", LEADER, "1x200", hash="a")
        | of("bailiff_worker_policies_info", API, "1x200", hash="a"),
        20,
    ),
    Scene("devices were never on", of("bailiff_worker_device_taints", LEADER, "0x200"), 60),
    Scene(
        "devices were on",
        of("bailiff_worker_device_taints", LEADER, "1x10 0x200"),
        60,
        {"DevicesOff"},
    ),
    Scene(
        "the status of rules is denied",
        of(_STATUS_WRITES, LEADER, "0+1x200", fate="denied"),
        35,
        {"RuleStatusStuck"},
    ),
    Scene("it is written", of(_STATUS_WRITES, LEADER, "0+1x200", fate="written"), 35),
]
