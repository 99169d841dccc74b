"""Which alerts fire of which metrics, told by promtool: all that fire, so none that should not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.harness.monitoring.alert_scenes import SCENES, Scene
from tests.harness.monitoring.files import RULES, Alert, alerts, selectors
from tests.harness.monitoring.prometheus import promtool
from tests.harness.transcripts import ROOT

if TYPE_CHECKING:
    from pathlib import Path


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


def test_every_alert_fires_in_a_scene() -> None:
    fired = {f"Bailiff{name}" for scene in SCENES for name in scene.fire}
    assert fired == {alert.name for alert in alerts()}
    names = [scene.name for scene in SCENES]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert.name)
def test_no_alert_fires_in_a_scene_near_by(alert: Alert) -> None:
    """It has what the alert looks at; so that an alert that always fires would be found."""
    looked_at = selectors(alert.expr)[0].metric
    assert [
        scene.name
        for scene in SCENES
        if alert.name.removeprefix("Bailiff") not in scene.fire
        and any(series.startswith(f"{looked_at}{{") for series in scene.whole())
    ]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_alerts_that_fire(scene: Scene, tmp_path: Path) -> None:
    file = tmp_path / "scene.yaml"
    file.write_text(yaml.safe_dump(_as_promtool_has_it(scene)))
    done = promtool("test", "rules", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def _as_promtool_has_it(scene: Scene) -> dict[str, object]:
    fired = sorted(f"Bailiff{name}" for name in scene.fire)
    told = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in fired]
    firing = 'sum by (alertname) (ALERTS{alertstate="firing"} > bool 0)'
    test = {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": values} for name, values in scene.whole().items()
        ],
        "promql_expr_test": [
            {"expr": firing, "eval_time": f"{scene.minutes}m", "exp_samples": told}
        ],
    }
    return {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}
