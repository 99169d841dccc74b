"""Rows about nodes: pressure, lost nodes, and the agents."""

from __future__ import annotations

from handbook.dashboard.panels import LEADS, Row, panel, quantile, rate

PRESSURE = Row(
    "Pressure",
    (
        panel(
            "Nodes",
            "Nobody is evicted for pressure from unknown nodes. pressed: a threshold is met.",
            (f"sum by (state) (bailiff_worker_pressure_nodes{{}} {LEADS})", "{{state}}"),
        ),
        panel(
            "Evictions by signal",
            "Pods that the worker and the agents have evicted for pressure.",
            rate("kubelet_evictions_total{}", "eviction_signal"),
            unit="ops",
        ),
        panel(
            "Age of what they went by",
            "How old the stats were when a threshold was acted upon.",
            quantile(0.99, "kubelet_eviction_stats_age_seconds"),
            unit="s",
        ),
        panel(
            "Summaries read",
            "read is usual. Other fates tell why the worker could not read a summary.",
            rate("bailiff_worker_pressure_reads_total{}", "fate"),
            unit="ops",
        ),
        panel(
            "Duration of a read",
            "Time for one summary, its decoding included.",
            quantile(0.99, "bailiff_worker_pressure_read_seconds"),
            unit="s",
        ),
        panel(
            "Writes about nodes",
            "failed: a right may be missing. A restart may then begin grace periods anew.",
            rate("bailiff_worker_pressure_writes_total{}", "what", "fate"),
            unit="ops",
        ),
        panel(
            "Thresholds that only tell",
            "Rounds in which a pod would have gone for such a threshold.",
            rate("bailiff_worker_pressure_dry_runs_total{}", "eviction_signal"),
            unit="ops",
        ),
    ),
)

NODE_LOSS = Row(
    "Node loss",
    (
        panel(
            "Nodes",
            "lost: no sign of life. released: its pods go. contradicted: the fence is wrong.",
            (f"sum by (state) (bailiff_worker_node_loss_nodes{{}} {LEADS})", "{{state}}"),
        ),
        panel(
            "Stuck pods",
            "Pods that were deleted, do not go, and that nobody may force.",
            (f"sum(bailiff_worker_node_loss_stuck_pods{{}} {LEADS})", "stuck"),
        ),
        panel(
            "Evictions",
            "deleted with a grace period, or forced because the machine is proven off.",
            rate("bailiff_worker_node_loss_evictions_total{}", "how"),
            unit="ops",
        ),
        panel(
            "Writes about lost nodes",
            "failed: a right may be missing. The log has the refusal.",
            rate("bailiff_worker_node_loss_writes_total{}", "what", "fate"),
            unit="ops",
        ),
    ),
)

AGENT = Row(
    "Agent",
    (
        panel(
            "Attempts to evict",
            "refused: another pod goes in its place. stopped: the API server was away.",
            rate("bailiff_agent_attempts_total{}", "eviction_signal", "fate"),
            unit="ops",
        ),
        panel(
            "Thresholds met",
            "Agents on whose node a threshold of the signal is met.",
            ("sum by (eviction_signal) (bailiff_agent_threshold_met{})", "{{eviction_signal}}"),
        ),
        panel(
            "What is left",
            "The least of all nodes, in bytes, inodes or processes.",
            ("min by (eviction_signal) (bailiff_agent_available{})", "{{eviction_signal}}"),
        ),
        panel(
            "Rounds",
            "Rounds by what began them: time, or a notice of the kernel.",
            rate("bailiff_agent_rounds_total{}", "by"),
            unit="ops",
        ),
        panel(
            "Rounds without a decision",
            "Rounds in which an agent could decide nothing, by reason.",
            rate("bailiff_agent_unknown_rounds_total{}", "reason"),
            unit="ops",
        ),
        panel(
            "Since the last round",
            "About 10 seconds are usual. A clean-up of images may take minutes.",
            ("max by (pod) (bailiff_agent_since_round_seconds{})", "{{pod}}"),
            unit="s",
        ),
        panel(
            "From a notice to its round",
            "Milliseconds are usual. The clean-up of the round before is included.",
            quantile(0.99, "bailiff_agent_notice_seconds"),
            unit="s",
        ),
        panel(
            "Freed without a pod",
            "Containers, sandboxes and images that agents have removed.",
            rate("bailiff_agent_freed_total{}", "what", "fate"),
            unit="ops",
        ),
        panel(
            "Age of the picture",
            "By how much an agent's picture of its pods may lie behind the API server. 0 is usual.",
            ("max by (pod) (bailiff_agent_mirror_age_seconds{})", "{{pod}}"),
            unit="s",
        ),
    ),
)
