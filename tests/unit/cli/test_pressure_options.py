"""The worker's options of the pressure mode, and what they come to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bailiff.bootstrap import work
from bailiff.bootstrap.choices import PressureChoice
from bailiff.bootstrap.pressure import PressureUnusableError, pressing_of
from bailiff.bootstrap.settings import WorkSettings
from bailiff.cli.app import app
from bailiff.cluster.kubelets import ViaApiServer
from bailiff.decisions.pressure.extensions import NO_EXTENSIONS, ReleaseTarget
from bailiff.kinds.names import KEY_RULE, VALUE_RULE


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
        *("--pressure-extensions", "e", "--pressure-layout", "split"),
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
        layout="split",
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


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("pool", "expected key=value"),
        ("pool!=spot", "expected key=value"),
        ("=spot", "expected key=value"),
        ("a=b=c", f"the value in 'a=b=c' {VALUE_RULE}"),
        ("pool=spot,tier=-2", f"the value in 'tier=-2' {VALUE_RULE}"),
        ("a b=c", f"the key in 'a b=c' {KEY_RULE}"),
    ],
)
def test_a_selector_that_is_none_is_refused(selector: str, told: str) -> None:
    options = ["--pressure", "--pressure-node-selector", selector]
    found = CliRunner().invoke(app, ["worker", "--kubeconfig", "k", *options])
    assert found.exit_code == 2
    assert f"--pressure-node-selector: {told}" in found.output


def test_options_of_a_mode_that_is_off_are_refused() -> None:
    found = CliRunner().invoke(app, ["worker", "--kubeconfig", "k", "--pressure-keep-pods"])
    assert found.exit_code == 2
    assert "need --pressure" in found.output


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"interval": 0.5}, "--pressure-interval: must be 1 s and up"),
        ({"interval": float("nan")}, "--pressure-interval: must be 1 s and up"),
        ({"stale_after": 0.0}, "--pressure-stale-after: must be above 0 s"),
        ({"stale_after": float("nan")}, "--pressure-stale-after: must be above 0 s"),
        (
            {"layout": "two"},
            "--pressure-layout: must be one of single, dedicated, split, got 'two'",
        ),
        (
            {"via_api_server": "at times"},
            f"--kubelet-via-api-server: must be one of {', '.join(ViaApiServer)}, got 'at times'",
        ),
        ({"key_file": Path("k")}, "--kubelet-client-key: needs --kubelet-client-certificate"),
        (
            {"config": Path("/nowhere")},
            "--pressure-config: /nowhere: No such file or directory",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_the_option_that_was_typed(
    fields: dict[str, Any], told: str
) -> None:
    with pytest.raises(PressureUnusableError) as refused:
        pressing_of(PressureChoice(**fields))
    assert str(refused.value) == told


def test_a_file_that_nobody_may_ever_write_to_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    for choice in (PressureChoice(config=path), PressureChoice(extensions=path)):
        with pytest.raises(PressureUnusableError, match=r"^--pressure-.*: not a regular file"):
            pressing_of(choice)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("evictionHard: {memory.available: 500Mo}", "must be a quantity"),
        ("evictionHard: {memory.free: 500Mi}", "memory.free"),
        ("evictionHard: [", "yaml|expected|line"),
        ("- 1", "no KubeletConfiguration"),
        # In the place of each the kubelet's defaults would count, for all nodes.
        ("", "no KubeletConfiguration"),
        ("{}", "no KubeletConfiguration"),
        ("evictionHard:", "no KubeletConfiguration"),
        ("coolDown: 1m", "no KubeletConfiguration"),
        ("kind: ConfigMap\nevictionHard: {}", "no KubeletConfiguration"),
        ("evictionhard: {memory.available: 2Gi}", r"\$.evictionhard: .* is evictionHard meant"),
        ("kind: KubeletConfiguration\nevicitonHard: {}", "is evictionHard meant"),
        ("kubeletconfig: {evictionHrd: {}, evictionSoft: {}}", "is evictionHard meant"),
        ("evictionHard: {}\nevictionNow: 1", "unknown field, of eviction are evictionHard, "),
        ("evictionHard: {}\nfeaturegates: {}", "is featureGates meant"),
    ],
)
def test_thresholds_that_no_kubelet_would_take_are_refused(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "thresholds.yaml"
    path.write_text(text)
    with pytest.raises(PressureUnusableError, match=rf"(?i){told}"):
        pressing_of(PressureChoice(config=path))


def test_all_that_is_wrong_in_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.yaml"
    path.write_text("evictionHard: {memory.available: 160%, nodefs.free: 1Gi}")
    with pytest.raises(PressureUnusableError) as told:
        pressing_of(PressureChoice(config=path))
    name = f"--pressure-config: {path}"
    first, second = str(told.value).splitlines()
    assert (
        first == f"{name}: $.evictionHard[\"memory.available\"]: must be from 0% to 100%, is '160%'"
    )
    assert second.startswith(f'{name}: $.evictionHard["nodefs.free"]: must be one of')
    path.write_text("evictionSoft: nothing\nevictionMaxPodGracePeriod: long")
    with pytest.raises(PressureUnusableError) as told:
        pressing_of(PressureChoice(config=path))
    fields = ("evictionSoft", "evictionMaxPodGracePeriod")
    for line, field in zip(str(told.value).splitlines(), fields, strict=True):
        assert line.startswith(f"{name}: $.{field}: Expected")


def test_of_very_much_that_is_wrong_the_first_is_told(tmp_path: Path) -> None:
    path = tmp_path / "thresholds.yaml"
    path.write_text("".join(f"eviction{number}: 1\n" for number in range(100)))
    with pytest.raises(PressureUnusableError) as told:
        pressing_of(PressureChoice(config=path))
    assert str(told.value).endswith("and 80 more")


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
        (
            "memoryInUse: MemAvailable",
            r"^--pressure-extensions: .*: \$.memoryInUse: must be WorkingSet or RSS",
        ),
        ("coolDown: soon", r"\$.coolDown: "),
        ("dryRun: [memory.available]", "dryRun"),
        ("releaseTarget: {atMost: 0}", "releaseTarget.atMost"),
        ("stallWindow: 20s\ncoolDown: 1", r"(?s)\$.stallWindow: .*\$.coolDown: "),
    ],
)
def test_extensions_that_cannot_be_are_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "extensions.yaml"
    path.write_text(text)
    with pytest.raises(PressureUnusableError, match=told):
        pressing_of(PressureChoice(extensions=path))


@pytest.mark.parametrize("text", ["", "{}", "# nothing\n"])
def test_an_empty_file_of_extensions_switches_all_off(tmp_path: Path, text: str) -> None:
    path = tmp_path / "extensions.yaml"
    path.write_text(text)
    pressing = pressing_of(PressureChoice(extensions=path))
    assert pressing is not None
    assert pressing.mode.extensions == NO_EXTENSIONS


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
