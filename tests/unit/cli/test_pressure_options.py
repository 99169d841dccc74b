"""The worker's options of the pressure mode, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap import work
from bailiff.bootstrap.choices import PressureChoice
from bailiff.bootstrap.pressure import PressureUnusableError, pressing_of
from bailiff.bootstrap.settings import WorkSettings
from bailiff.cli.app import app
from bailiff.decisions.pressure.extensions import ReleaseTarget


def chosen(monkeypatch: pytest.MonkeyPatch, *options: str) -> PressureChoice | None:
    """What the command makes of its options."""
    seen: list[WorkSettings] = []

    def take(settings: WorkSettings) -> Any:
        seen.append(settings)
        raise SystemExit(0)

    monkeypatch.setattr(work, "work", take)
    CliRunner().invoke(app, ["worker", "--kubeconfig", "k", *options])
    return seen[0].pressure


def test_it_is_off_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch) is None
    assert chosen(monkeypatch, "--pressure") == PressureChoice()


def test_each_option_reaches_its_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    options = [
        *("--pressure", "--pressure-node-selector", "pool=spot,tier==2"),
        *("--pressure-config", "c", "--pressure-interval", "20", "--pressure-stale-after", "60"),
        *("--pressure-extensions", "e"),
        *("--pressure-keep-pods", "--pressure-hard-overrides-policies"),
        *("--no-pressure-conditions", "--kubelet-via-api-server", "always"),
        *("--kubelet-certificate-authority", "ca", "--kubelet-insecure-tls"),
        *("--kubelet-token-file", "t", "--kubelet-client-certificate", "crt"),
        *("--kubelet-client-key", "key"),
    ]
    assert chosen(monkeypatch, *options) == PressureChoice(
        selector=(("pool", "spot"), ("tier", "2")),
        config=Path("c"),
        extensions=Path("e"),
        interval=20.0,
        stale_after=60.0,
        keeps_pods=True,
        hard_overrides_policies=True,
        publishes=False,
        via_api_server="always",
        ca_file=Path("ca"),
        insecure=True,
        token_file=Path("t"),
        certificate_file=Path("crt"),
        key_file=Path("key"),
    )


@pytest.mark.parametrize("selector", ["pool", "pool!=spot", "=spot"])
def test_a_selector_that_is_none_is_refused(selector: str) -> None:
    options = ["--pressure", "--pressure-node-selector", selector]
    found = CliRunner().invoke(app, ["worker", "--kubeconfig", "k", *options])
    assert found.exit_code == 2
    assert "expected key=value" in found.output


def test_options_of_a_mode_that_is_off_are_refused() -> None:
    found = CliRunner().invoke(app, ["worker", "--kubeconfig", "k", "--pressure-keep-pods"])
    assert found.exit_code == 2
    assert "need --pressure" in found.output


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"interval": 0.5}, "interval: must be 1 s and up"),
        ({"stale_after": 0.0}, "must be above 0 s"),
        ({"via_api_server": "sometimes"}, "sometimes"),
        ({"key_file": Path("k")}, "key_file: needs certificate_file"),
        ({"config": Path("/nowhere")}, "/nowhere: No such file or directory"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(PressureUnusableError, match=told):
        pressing_of(PressureChoice(**fields))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("evictionHard: {memory.available: 500Mo}", "must be a quantity"),
        ("evictionHard: {memory.free: 500Mi}", "memory.free"),
        ("evictionHard: [", "yaml|expected|line"),
        ("- 1", "object"),
    ],
)
def test_thresholds_that_no_kubelet_would_take_are_refused(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "thresholds.yaml"
    path.write_text(text)
    with pytest.raises(PressureUnusableError, match=rf"(?i){told}"):
        pressing_of(PressureChoice(config=path))


@pytest.mark.parametrize(
    "form",
    [
        "evictionHard: {memory.available: 1Gi}",
        "kubeletconfig: {evictionHard: {memory.available: 1Gi}}",
    ],
)
def test_thresholds_may_be_a_configuration_or_an_answer_of_configz(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / "thresholds.yaml"
    path.write_text(form)
    pressing = pressing_of(PressureChoice(config=path, selector=(("pool", "spot"),)))
    assert pressing is not None
    assert pressing.mode.configuration is not None
    assert pressing.mode.configuration.eviction_hard == {"memory.available": "1Gi"}
    assert pressing.keep.node_labels == {"pool"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("memoryInUse: MemAvailable", "memoryInUse: must be WorkingSet or RSS"),
        ("coolDown: soon", "extensions.coolDown"),
        ("dryRun: [memory.available]", "dryRun"),
        ("releaseTarget: {atMost: 0}", "releaseTarget.atMost"),
    ],
)
def test_extensions_that_cannot_be_are_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "extensions.yaml"
    path.write_text(text)
    with pytest.raises(PressureUnusableError, match=told):
        pressing_of(PressureChoice(extensions=path))


def test_extensions_reach_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "extensions.yaml"
    path.write_text("releaseTarget: {atMost: 3}")
    pressing = pressing_of(PressureChoice(extensions=path))
    assert pressing is not None
    assert pressing.mode.extensions.release_target == ReleaseTarget(at_most=3)


def test_kubelets_are_looked_up_of_a_cluster_alone() -> None:
    found = CliRunner().invoke(app, ["serve", "--pressure-look-ups"])
    assert found.exit_code == 2
    assert "needs a cluster" in found.output
