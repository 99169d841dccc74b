"""docs/operations.md names every metric, outcome, Event and cause that there is."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter
from typer.core import TyperGroup
from typer.main import get_command

from bailiff.cli.app import app
from bailiff.clock import SystemClock
from bailiff.cluster import Restart
from bailiff.decisions import (
    cancellation_event,
    denial_event,
    device_taints,
    eviction_event,
    node_taints,
)
from bailiff.decisions.device_taints import EVICTION_IN_PROGRESS, RuleEffect, rule_status
from bailiff.decisions.policies import Cause, Hold
from bailiff.kinds import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, ObjectMeta, Pod
from bailiff.worker import (
    ApiMetrics,
    Comparison,
    ShadowActions,
    WatchMetrics,
    Worker,
    WorkerSettings,
)
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.observe.metrics import WorkerMetrics
from bailiff.worker.observe.policy_events import blocked_event, held_event
from bailiff.worker.policy.file import PolicyMetrics
from bailiff.worker.policy.news import NewsMetrics
from bailiff.worker.shadow.comparison import Result
from bailiff.worker.systems.device_taints.devices import State
from bailiff.worker.systems.device_taints.system import DeviceTaintMetrics
from bailiff.worker.systems.node_taints.system import NodeTaintMetrics

TEXT = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
HOLD = Hold(cause=Cause.PAUSED, message="why")
POD = Pod(metadata=ObjectMeta(namespace="NS", name="NAME"))


def first_cells():
    """Of every row of every table."""
    rows = re.findall(r"^ *\| (.+?) \|", TEXT, re.MULTILINE)
    return {cell.strip("`") for row in rows for cell in row.split(", ")}


def metrics():
    """As the guide writes them: the name, and the labels in braces."""
    real, on_paper = (WorkerMetrics(CollectorRegistry(), on_paper=one) for one in (False, True))
    registry = CollectorRegistry()
    others = vars(ApiMetrics(registry)) | vars(PolicyMetrics(registry))
    others |= vars(WatchMetrics(registry)) | vars(NewsMetrics(registry))
    of_systems = (
        NodeTaintMetrics(registry, on_paper=False),
        DeviceTaintMetrics(registry, on_paper=False),
    )
    for metric in (
        *vars(real).values(),
        *others.values(),
        *(metric for system in of_systems for metric in vars(system).values()),
        on_paper.attempts,
    ):
        name = metric._name + ("_total" if isinstance(metric, Counter) else "")
        labels = ",".join(metric._labelnames)
        yield f"{name}{{{labels}}}" if labels else name


def collected():
    """Those that are counted when they are read."""
    clock = SystemClock()
    actions = ShadowActions(Comparison(clock))
    worker = Worker(actions, clock, CollectorRegistry(), WorkerSettings())
    for metric in worker.backlog.collect():
        labels = ",".join(vars(metric)["_labelnames"])
        yield f"{metric.name}{{{labels}}}" if labels else metric.name


@pytest.mark.parametrize("metric", list(metrics()) + list(collected()))
def test_every_metric_is_explained(metric):
    assert f"\n| `{metric}` | " in TEXT


def test_no_other_metric_is_named_in_an_alert_or_a_runbook():
    known = {name.partition("{")[0] for name in (*metrics(), *collected())}
    named = {name.removesuffix("_bucket") for name in re.findall(r"bailiff_worker_\w+", TEXT)}
    assert named <= known


@pytest.mark.parametrize(
    "values", [Outcome, Result, Restart, State], ids=lambda enum: enum.__name__
)
def test_every_value_of_a_label_is_explained(values):
    assert {value.value for value in values} <= first_cells()


@pytest.mark.parametrize(
    "note",
    [
        eviction_event(POD, node_taints.TERMS, "why"),
        cancellation_event(POD, "why", node_taints.TERMS),
        denial_event(POD, "why"),
        blocked_event(POD, "why"),
        held_event(POD, HOLD),
        eviction_event(POD, device_taints.TERMS, "why"),
        cancellation_event(POD, "why", device_taints.TERMS),
    ],
    ids=lambda note: f"{note.reason} {note.message.split(' ')[0]}",
)
def test_every_event_is_explained(note):
    begins = note.message.removesuffix(" why").removesuffix(" (paused):")
    assert f"| {note.type} | `{note.reason}` | `{begins}` |" in TEXT


@pytest.mark.parametrize(
    ("effect", "pods", "evicted"),
    [
        ("NoExecute", 1, 0),
        ("NoExecute", 0, 1),
        ("NoExecute", 0, 0),
        ("None", 0, 0),
        ("Other", 0, 0),
    ],
)
def test_every_condition_of_a_rule_is_explained(effect, pods, evicted):
    rule = DeviceTaintRule(spec=DeviceTaintRuleSpec(taint=DeviceTaint(key="k", effect=effect)))
    doomed = RuleEffect(pods=(POD.metadata,) * pods)
    condition = rule_status(rule, lambda: doomed, evicted, datetime.now(UTC)).condition
    assert condition is not None
    assert f"`{EVICTION_IN_PROGRESS}`" in TEXT
    assert f"| {condition.status} | `{condition.reason}` | " in TEXT


def test_every_option_of_devices_is_explained():
    command = get_command(app)
    assert isinstance(command, TyperGroup)
    worker = command.commands["worker"]
    options = {name for parameter in worker.params for name in parameter.opts}
    about = {name for name in options if re.search("device|claims", name)}
    assert len(about) == 3
    assert about <= first_cells()


def test_a_worker_of_the_chart_is_asked_as_its_defaults_want_it():
    """By `ask_worker`: plain HTTP is for one's own machine, the demo, and where a mesh does TLS."""
    plain = re.findall(r"curl .*127\.0\.0\.1:8081([/\w]*)", TEXT)
    assert sorted(plain) == ["", "/v1/queue", "/v1/shadow"]
    assert 'ask_worker() { curl -s --cacert ca.crt -H "Authorization: Bearer $TOKEN"' in TEXT
