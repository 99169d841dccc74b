"""Which alerts fire of which metrics, told by promtool: all that fire, so none that should not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from tests.harness.monitoring.files import RULES
from tests.harness.monitoring.prometheus import promtool
from tests.harness.transcripts import ROOT

if TYPE_CHECKING:
    from pathlib import Path

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
WEBHOOK = 'name="validate-pods.bailiff.dev"'


class Scene(NamedTuple):
    """Series beside, or in place of, those of a release that is well; None takes one away."""

    name: str
    series: dict[str, str | None]
    minutes: int
    fire: frozenset[str] | set[str] = frozenset()


def of(metric: str, where: str, values: str, **labels: str) -> dict[str, str | None]:
    more = "".join(f',{name}="{value}"' for name, value in labels.items())
    return {f"{metric}{{{where}{more}}}": values}


def leads(leader: str, standby: str) -> dict[str, str | None]:
    of_both = of("bailiff_worker_leader", LEADER, leader)
    return of_both | of("bailiff_worker_leader", STANDBY, standby)


SCENES = [
    Scene("all is well", {}, 100),
    Scene("nobody leads", leads("0x200", "0x200"), 3, {"NoLeader"}),
    Scene("another leads at once", leads("1x4 0x200", "0x4 1x200"), 10),
    Scene(
        "nothing is scraped",
        dict.fromkeys(WELL),
        20,
        {"NoLeader", "RequestsRefusedAbsent", "AgentReadingsOldAbsent"},
    ),
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
        "a leader has more to do than it does",
        of("bailiff_worker_backlog", LEADER, "7x200", cause="due"),
        15,
        {"EvictionsLateDue"},
    ),
    Scene(
        "a standby does not do it", of("bailiff_worker_backlog", STANDBY, "7x200", cause="due"), 15
    ),
    Scene(
        "evictions are paused for long",
        of("bailiff_worker_backlog", LEADER, "7x200", cause="paused"),
        40,
        {"EvictionsPaused"},
    ),
    Scene("for a moment", of("bailiff_worker_backlog", LEADER, "7x20 0x90", cause="paused"), 40),
    Scene(
        "a watch does not stand",
        of("bailiff_worker_mirror_age_seconds", LEADER, "0+60x200", resource="pods"),
        10,
        {"WatchStale"},
    ),
    Scene("devices were never on", of("bailiff_worker_device_taints", LEADER, "0x200"), 60),
    Scene(
        "devices were on",
        of("bailiff_worker_device_taints", LEADER, "1x10 0x200"),
        60,
        {"DevicesOff"},
    ),
    Scene(
        "the first pod is evicted for pressure",
        of("kubelet_evictions_total", LEADER, "_x10 1x90", eviction_signal="memory.available"),
        12,
        {"PodsEvictedForPressure"},
    ),
    Scene(
        "that was long ago",
        of("kubelet_evictions_total", LEADER, "_x10 1x90", eviction_signal="memory.available"),
        60,
    ),
    Scene(
        "agents evict many",
        of("kubelet_evictions_total", AGENT, "0+2x90", eviction_signal="memory.available"),
        30,
        {"PodsEvictedForPressure", "PodsEvictedForPressureMany"},
    ),
    Scene(
        "a certificate is good for three days",
        of("bailiff_tls_certificate_expiry_timestamp_seconds", API, f"{3 * 86400}x200"),
        5,
        {"CertificateExpires"},
    ),
    Scene(
        "one request in ten is refused",
        of("bailiff_rest_requests_total", API, "0+10x200", status="503")
        | of("bailiff_rest_requests_total", API, "0+90x200", status="200"),
        20,
        {"RequestsRefusedOverloaded"},
    ),
    Scene(
        "one in a hundred",
        of("bailiff_rest_requests_total", API, "0+1x200", status="503")
        | of("bailiff_rest_requests_total", API, "0+99x200", status="200"),
        20,
    ),
    Scene(
        "gRPC has faults",
        of("bailiff_grpc_requests_total", API, "0+5x200", code="INTERNAL")
        | of("bailiff_grpc_requests_total", API, "0+95x200", code="OK"),
        20,
        {"RequestsRefusedErrors"},
    ),
    Scene(
        "the fence names another machine",
        of("bailiff_worker_node_loss_nodes", LEADER, "1x200", state="contradicted"),
        1,
        {"NodeLossContradicted"},
    ),
    Scene(
        "a webhook is passed by",
        of("apiserver_admission_webhook_fail_open_count", WEBHOOK, "0+1x200"),
        20,
        {"WebhookNotReached"},
    ),
    Scene(
        "of somebody else's webhook",
        of("apiserver_admission_webhook_fail_open_count", 'name="other.example"', "0+1x200"),
        20,
    ),
    Scene(
        "an agent knows nothing",
        of("bailiff_agent_unknown_rounds_total", AGENT, "0+6x200", reason="stale")
        | of("bailiff_agent_rounds_total", AGENT, "0+6x200", by="time"),
        15,
        {"AgentReadingsOld"},
    ),
    Scene(
        "an agent does not reach the API server",
        of("bailiff_agent_mirror_age_seconds", AGENT, "0+60x200"),
        10,
        {"AgentApiServerAway"},
    ),
    Scene(
        "an agent's first eviction is refused",
        of(
            *("bailiff_agent_attempts_total", AGENT, "_x10 1x90"),
            eviction_signal="memory.available",
            fate="refused",
        ),
        12,
        {"AgentRefused"},
    ),
]


def test_prometheus_takes_the_rules() -> None:
    done = promtool("check", "rules", "--lint-fatal", str(RULES))
    assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_takes_the_scraping_of_the_guide_whose_jobs_are_those_of_the_rules(
    tmp_path: Path,
) -> None:
    guide = (ROOT / "docs" / "operate" / "monitoring.md").read_text()
    [config] = re.findall(r"```yaml\n(scrape_configs:.*?)```", guide, re.DOTALL)
    (tmp_path / "prometheus.yaml").write_text(config)
    done = promtool("check", "config", "--syntax-only", str(tmp_path / "prometheus.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
    told = set(re.findall(r'job="([^"]+)"', RULES.read_text()))
    scraped = {one["job_name"] for one in yaml.safe_load(config)["scrape_configs"]}
    assert told == scraped | {"bailiff-api"}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_alerts_that_fire(scene: Scene, tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(yaml.safe_dump(_as_promtool_has_it(scene)))
    done = promtool("test", "rules", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def _as_promtool_has_it(scene: Scene) -> dict[str, object]:
    series = WELL | scene.series
    fired = sorted(f"Bailiff{name}" for name in scene.fire)
    told = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in fired]
    firing = 'sum by (alertname) (ALERTS{alertstate="firing"} > bool 0)'
    test = {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in series.items() if values
        ],
        "promql_expr_test": [
            {"expr": firing, "eval_time": f"{scene.minutes}m", "exp_samples": told}
        ],
    }
    return {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
