"""Pressure, lost nodes and agents."""

from __future__ import annotations

from tests.harness.monitoring.alert_scenes.base import (
    AGENT,
    FIRST_AFTER_TEN,
    LEADER,
    SLOWLY,
    STANDBY,
    Scene,
    of,
)

_MEMORY = {"eviction_signal": "memory.available"}
_EVICTED = "kubelet_evictions_total"
_NODES, _READS, _WRITES, _DRY_RUNS = (
    f"bailiff_worker_pressure_{one}"
    for one in ("nodes", "reads_total", "writes_total", "dry_runs_total")
)
_LOST, _STUCK, _NOTES = (
    f"bailiff_worker_node_loss_{one}" for one in ("nodes", "stuck_pods", "writes_total")
)
_ATTEMPTS = "bailiff_agent_attempts_total"
_ROUNDS, _UNKNOWN = (f"bailiff_agent_{one}_total" for one in ("rounds", "unknown_rounds"))

PRESSURE = [
    Scene(
        "the pressure of two nodes is unknown",
        of(_NODES, LEADER, "2x200", state="unknown"),
        15,
        {"PressureNodeUnknown"},
    ),
    Scene("a standby does not know it", of(_NODES, STANDBY, "2x200", state="unknown"), 15),
    Scene("two nodes are under pressure", of(_NODES, LEADER, "2x200", state="pressed"), 15),
    Scene(
        "one summary in ten is not read",
        of(_READS, LEADER, "0+10x200", fate="unreachable")
        | of(_READS, LEADER, "0+90x200", fate="read"),
        25,
        {"PressureNodeUnknownReads"},
    ),
    Scene(
        "one in fifty",
        of(_READS, LEADER, "0+2x200", fate="unreachable")
        | of(_READS, LEADER, "0+98x200", fate="read"),
        25,
    ),
    Scene(
        "conditions cannot be written",
        of(_WRITES, LEADER, "0+1x200", what="conditions", fate="failed"),
        25,
        {"PressureNotWritten"},
    ),
    Scene(
        "they are written",
        of(_WRITES, LEADER, "0+1x200", what="conditions", fate="written"),
        25,
    ),
    Scene(
        "a threshold that only tells is met",
        of(_DRY_RUNS, LEADER, FIRST_AFTER_TEN, **_MEMORY),
        12,
        {"PodsEvictedForPressureDryRun"},
    ),
    Scene("it was met an hour ago", of(_DRY_RUNS, LEADER, FIRST_AFTER_TEN, **_MEMORY), 70),
    Scene(
        "the first pod is evicted for pressure",
        of(_EVICTED, LEADER, FIRST_AFTER_TEN, **_MEMORY),
        12,
        {"PodsEvictedForPressure"},
    ),
    Scene("that was long ago", of(_EVICTED, LEADER, FIRST_AFTER_TEN, **_MEMORY), 60),
    Scene(
        "agents evict seven in a quarter of an hour",
        of(_EVICTED, AGENT, SLOWLY, **_MEMORY),
        30,
        {"PodsEvictedForPressure"},
    ),
    Scene(
        "agents evict many",
        of(_EVICTED, AGENT, "0+2x90", **_MEMORY),
        30,
        {"PodsEvictedForPressure", "PodsEvictedForPressureMany"},
    ),
]

NODE_LOSS = [
    Scene("a node is lost", of(_LOST, LEADER, "1x200", state="lost"), 15, {"NodeSilent"}),
    Scene("a node is ready", of(_LOST, LEADER, "1x200", state="ready"), 15),
    Scene("for five minutes", of(_LOST, LEADER, "1x5 0x200", state="lost"), 15),
    Scene("a standby has lost sight of it", of(_LOST, STANDBY, "1x200", state="lost"), 15),
    Scene(
        "pods of a lost node do not go",
        of(_STUCK, LEADER, "3x200"),
        8,
        {"NodeSilentStuckPods"},
    ),
    Scene("a standby waits for them, too", of(_STUCK, STANDBY, "3x200"), 8),
    Scene(
        "the fence names another machine",
        of(_LOST, LEADER, "1x200", state="contradicted"),
        1,
        {"NodeLossContradicted"},
    ),
    Scene("a standby thinks so", of(_LOST, STANDBY, "1x200", state="contradicted"), 1),
    Scene(
        "taints of lost nodes cannot be written",
        of(_NOTES, LEADER, "0+1x200", what="taint", fate="failed"),
        25,
        {"NodeLossNotWritten"},
    ),
    Scene(
        "another has written at the same time",
        of(_NOTES, LEADER, "0+1x200", what="node", fate="outdated"),
        25,
    ),
]

AGENTS = [
    Scene(
        "an agent knows nothing",
        of(_UNKNOWN, AGENT, "0+6x200", reason="stale") | of(_ROUNDS, AGENT, "0+6x200", by="time"),
        15,
        {"AgentReadingsOld"},
    ),
    Scene(
        "in half of its rounds",
        of(_UNKNOWN, AGENT, "0+3x200", reason="stale") | of(_ROUNDS, AGENT, "0+6x200", by="time"),
        15,
    ),
    Scene(
        "a round does not end",
        of("bailiff_agent_since_round_seconds", AGENT, "301x200"),
        3,
        {"AgentReadingsOldNoRound"},
    ),
    Scene(
        "a round lasts five minutes",
        of("bailiff_agent_since_round_seconds", AGENT, "300x200"),
        3,
    ),
    Scene(
        "an agent does not reach the API server",
        of("bailiff_agent_mirror_age_seconds", AGENT, "121x200"),
        10,
        {"AgentApiServerAway"},
    ),
    Scene(
        "for two minutes at most",
        of("bailiff_agent_mirror_age_seconds", AGENT, "120x200"),
        10,
    ),
    Scene(
        "an agent's first eviction is refused",
        of(_ATTEMPTS, AGENT, FIRST_AFTER_TEN, **_MEMORY, fate="refused"),
        12,
        {"AgentRefused"},
    ),
    Scene(
        "it was refused an hour ago",
        of(_ATTEMPTS, AGENT, FIRST_AFTER_TEN, **_MEMORY, fate="refused"),
        70,
    ),
    Scene(
        "an agent's evictions fail",
        of(_ATTEMPTS, AGENT, "0+1x200", **_MEMORY, fate="failed"),
        15,
        {"AgentRefusedFailing"},
    ),
    Scene(
        "four do",
        of(_ATTEMPTS, AGENT, "0+1x4 4x200", **_MEMORY, fate="failed"),
        8,
    ),
    Scene(
        "an agent's first pod is gone already",
        of(_ATTEMPTS, AGENT, FIRST_AFTER_TEN, **_MEMORY, fate="gone"),
        12,
    ),
    Scene("all are taken", of(_ATTEMPTS, AGENT, "0+1x200", **_MEMORY, fate="evicted"), 15),
    Scene(
        "an agent stops containers itself",
        of(_ATTEMPTS, AGENT, FIRST_AFTER_TEN, **_MEMORY, fate="stopped"),
        12,
        {"AgentApiServerAwayStopped"},
    ),
    Scene(
        "it did so an hour ago",
        of(_ATTEMPTS, AGENT, FIRST_AFTER_TEN, **_MEMORY, fate="stopped"),
        70,
    ),
]
