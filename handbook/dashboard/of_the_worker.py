"""Rows about the worker: is it well, what does it evict, what does it ask of the API server."""

from __future__ import annotations

from handbook.dashboard.panels import LEADS, Row, panel, quantile, rate

_BACKLOG = f"sum by (cause) (bailiff_worker_backlog{{%s}} {LEADS})"

WELL = Row(
    "Is it well?",
    (
        panel(
            "Leaders and shards",
            "Both lines are the same while every shard has a leader.",
            ("sum(bailiff_worker_leader{})", "leaders"),
            ("max(bailiff_worker_shards{})", "shards"),
        ),
        panel(
            "Shard of each worker",
            "The shard that each worker looks after. -1 is a standby for any shard.",
            ("max by (pod) (bailiff_worker_shard{})", "{{pod}}"),
        ),
        panel(
            "Synced",
            "1 once a worker has listed all objects. At 0 it leads no shard.",
            ("min by (pod) (bailiff_worker_synced{})", "{{pod}}"),
        ),
        panel(
            "Age of the last renewal",
            "2 to 3 seconds are usual. At 10 seconds a leader stops acting. 0: no election.",
            ("max by (pod) (bailiff_worker_lease_renewal_age_seconds{})", "{{pod}}"),
            unit="s",
        ),
        panel(
            "Silence of watches",
            "Since the API server last said anything. Up to 90 s is usual in a quiet cluster.",
            ("max by (resource) (bailiff_worker_watch_silence_seconds{})", "{{resource}}"),
            unit="s",
        ),
        panel(
            "Age of the picture",
            "By how much the worker's picture may lie behind. 0 is usual, above 200 it is stale.",
            ("max by (resource) (bailiff_worker_mirror_age_seconds{})", "{{resource}}"),
            unit="s",
        ),
        panel(
            "Watches that start again",
            "ended is usual. disconnected, refused and malformed are not.",
            rate("bailiff_worker_watch_restarts_total{}", "cause"),
            unit="ops",
        ),
        panel(
            "Clock",
            "By how much the clock of a worker differs from the API server's. 0 is usual.",
            ("max by (pod) (bailiff_worker_clock_skew_seconds{})", "{{pod}}"),
            unit="s",
        ),
        panel(
            "Lag of the event loop",
            "Above 0.1 seconds a worker lacks CPU.",
            quantile(0.99, "bailiff_worker_loop_lag_seconds", "pod"),
            unit="s",
        ),
        panel(
            "CPU",
            "Cores that each process uses.",
            ("sum by (pod) (rate(process_cpu_seconds_total{}[$__rate_interval]))", "{{pod}}"),
        ),
        panel(
            "Memory",
            "Resident memory of each process.",
            ("max by (pod) (process_resident_memory_bytes{})", "{{pod}}"),
            unit="bytes",
        ),
        panel(
            "Objects",
            "Nodes and pods in memory, and those that have changed and are not evaluated yet.",
            ("max by (kind) (bailiff_worker_mirrored_objects{})", "{{kind}}"),
            ("max(bailiff_worker_evaluator_backlog{})", "not evaluated"),
        ),
        panel(
            "Spans of traces",
            "failed: the collector did not take them. dropped: too many waited.",
            rate("bailiff_tracing_spans_total{}", "fate"),
            unit="ops",
        ),
    ),
)

EVICTIONS = Row(
    "Evictions",
    (
        panel(
            "Evictions",
            "Evictions that the API server has taken, by the system that found the reason.",
            rate("bailiff_worker_evictions_total{}", "system", "by"),
            unit="ops",
        ),
        panel(
            "Attempts by outcome",
            "deleted and marked are evictions. denied, blocked and unreachable need a look.",
            rate("bailiff_worker_eviction_attempts_total{}", "outcome"),
            unit="ops",
        ),
        panel(
            "Lateness",
            "From the deadline of a pod to its eviction. Policies that hold evictions back count.",
            quantile(0.5, "bailiff_worker_lateness_seconds"),
            quantile(0.99, "bailiff_worker_lateness_seconds"),
            unit="s",
        ),
        panel(
            "Waiting and due",
            "Evictions of leaders that wait for their time, and those that wait for a free hand.",
            (_BACKLOG % 'cause=~"waiting|due"', "{{cause}}"),
        ),
        panel(
            "Held back",
            "Evictions that a policy holds, or that the API server has not taken, by cause.",
            (_BACKLOG % 'cause!~"waiting|due"', "{{cause}}"),
        ),
        panel(
            "Breakers",
            "0 is normal, 1 slows evictions down, 2 stops them.",
            ("max by (zone) (bailiff_worker_breaker_state{})", "{{zone}}"),
            ("max(bailiff_worker_cluster_breaker_state{})", "cluster"),
        ),
        panel(
            "Cancelled",
            "Evictions that were scheduled for a pod that may stay now.",
            rate("bailiff_worker_evictions_cancelled_total{}", "system"),
            unit="ops",
        ),
        panel(
            "Under upstream's names",
            "Pods deleted for taints of nodes and of devices, as kube-controller-manager counts.",
            (rate("taint_eviction_controller_pod_deletions_total{}")[0], "nodes"),
            (rate("device_taint_eviction_controller_pod_deletions_total{}")[0], "devices"),
            unit="ops",
        ),
        panel(
            "Devices",
            "1 while pods are evicted by the taints of their devices; writes of rules' status.",
            ("min by (pod) (bailiff_worker_device_taints{})", "{{pod}}"),
            rate("bailiff_worker_rule_status_writes_total{}", "fate"),
        ),
        panel(
            "On paper",
            "In a dry run or a shadow: what attempts would have come to.",
            rate("bailiff_worker_dry_run_attempts_total{}", "outcome"),
            unit="ops",
        ),
        panel(
            "Shadow",
            "Pods by how the decision compares with what kube-controller-manager did.",
            rate("bailiff_worker_shadow_pods_total{}", "result"),
            unit="ops",
        ),
        panel(
            "Notes on nodes",
            "First observations of taints that the worker writes to nodes, by fate.",
            rate("bailiff_worker_node_annotations_total{}", "fate"),
            unit="ops",
        ),
    ),
)

API_SERVER = Row(
    "The Kubernetes API server, as the worker sees it",
    (
        panel(
            "Requests by code",
            "429 is API Priority and Fairness. none: no answer came in time.",
            rate("bailiff_worker_api_requests_total{}", "code"),
            unit="reqps",
        ),
        panel(
            "Duration of requests",
            "Slow DELETE and PATCH alone mean a slow admission webhook.",
            quantile(0.99, "bailiff_worker_api_request_duration_seconds", "method"),
            unit="s",
        ),
        panel(
            "Backoff",
            "Seconds for which the worker sends nothing but renewals of its Lease. 0 is usual.",
            ("max by (pod) (bailiff_worker_api_backoff_seconds{})", "{{pod}}"),
            unit="s",
        ),
        panel(
            "Kubernetes Events",
            "dropped: too many waited. fenced: another worker leads.",
            rate("bailiff_worker_events_total{}", "fate"),
            unit="ops",
        ),
        panel(
            "Objects left out",
            "Objects that cannot be decoded, or that are beyond the limits of Kubernetes.",
            rate("bailiff_worker_unreadable_objects_total{}", "resource"),
            rate("bailiff_worker_refused_objects_total{}", "resource", "reason"),
            unit="ops",
        ),
        panel(
            "Changes of the lead",
            "A lead that changes often means a busy API server, or a worker that lacks CPU.",
            rate("bailiff_worker_lease_transitions_total{}", "pod"),
            unit="ops",
        ),
    ),
)
