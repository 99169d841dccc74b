"""What went wrong once is over: counters stand still, and nothing waits."""

from __future__ import annotations

from functools import reduce
from operator import or_

from tests.harness.monitoring.alert_scenes.base import AGENT, API, LEADER, Scene, of

_STANDS, _NONE = "5x200", "0x200"
_WEBHOOK = 'name="validate-pods.bailiff.dev"'
_SIGNAL = {"eviction_signal": "memory.available"}
_SERIES = [
    *(
        of("bailiff_worker_backlog", LEADER, _NONE, cause=cause)
        for cause in ("due", "denied", "paused", "budget", "blast_radius")
    ),
    of("bailiff_worker_breaker_state", LEADER, _NONE, zone="a"),
    of("bailiff_worker_cluster_breaker_state", LEADER, _NONE),
    of("bailiff_worker_pressure_nodes", LEADER, _NONE, state="unknown"),
    *(
        of("bailiff_worker_node_loss_nodes", LEADER, _NONE, state=state)
        for state in ("lost", "contradicted")
    ),
    of("bailiff_worker_node_loss_stuck_pods", LEADER, _NONE),
    of("bailiff_worker_rule_status_writes_total", LEADER, _STANDS, fate="denied"),
    of("bailiff_worker_policy_weakenings_total", LEADER, _STANDS, what="policies"),
    *(
        of(f"bailiff_worker_{part}_writes_total", LEADER, _STANDS, what="event", fate="failed")
        for part in ("pressure", "node_loss")
    ),
    *(
        of("bailiff_agent_attempts_total", AGENT, _STANDS, **_SIGNAL, fate=fate)
        for fate in ("refused", "failed", "stopped")
    ),
    of("apiserver_admission_webhook_fail_open_count", _WEBHOOK, _STANDS),
    of(
        *("apiserver_admission_webhook_rejection_count", _WEBHOOK, _STANDS),
        error_type="calling_webhook_error",
    ),
    *(
        of("bailiff_admission_requests_total", API, _STANDS, hook="mutate/pods", result=result)
        for result in ("late", "failed", "other")
    ),
    of("bailiff_authentication_total", API, _STANDS, outcome="unavailable"),
    of("bailiff_tracing_spans_total", API, _STANDS, fate="failed"),
]

OLD_TROUBLE = [Scene("all of it was long ago", reduce(or_, _SERIES), 90)]
