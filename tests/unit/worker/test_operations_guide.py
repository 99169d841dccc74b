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
from bailiff.cluster.kubelets import KubeletError
from bailiff.decisions import (
    cancellation_event,
    denial_event,
    device_taints,
    eviction_event,
    node_taints,
)
from bailiff.decisions.device_taints import EVICTION_IN_PROGRESS, RuleEffect, rule_status
from bailiff.decisions.policies import Cause, Hold
from bailiff.decisions.pressure.conditions import changes
from bailiff.decisions.pressure.findings import TERMS as PRESSURE_TERMS
from bailiff.decisions.pressure.report import DRY_RUN, INVALID_DISK_CAPACITY, THRESHOLD_MET
from bailiff.decisions.pressure.signals import CONDITIONS
from bailiff.kinds import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, ObjectMeta, Pod
from bailiff.policy_file import PolicyMetrics
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
from bailiff.worker.policy.news import NewsMetrics
from bailiff.worker.shadow.comparison import Result
from bailiff.worker.systems.device_taints.devices import State
from bailiff.worker.systems.device_taints.system import DeviceTaintMetrics
from bailiff.worker.systems.node_loss.metrics import NodeLossMetrics
from bailiff.worker.systems.node_taints.system import NodeTaintMetrics
from bailiff.worker.systems.pressure.metrics import PressureMetrics
from bailiff.worker.systems.pressure.telling import UNKNOWN

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "operations.md").read_text()
PRESSURE = (DOCS / "pressure.md").read_text()
NODE_LOSS = (DOCS / "node-loss.md").read_text()
HOLD = Hold(cause=Cause.PAUSED, message="why")
POD = Pod(metadata=ObjectMeta(namespace="NS", name="NAME"))


def first_cells():
    """Of every row of every table."""
    rows = re.findall(r"^ *\| (.+?) \|", TEXT, re.MULTILINE)
    return {cell.strip("`") for row in rows for cell in row.split(", ")}


def second_cells():
    """Of every row of every table, as `first_cells`."""
    rows = re.findall(r"^ *\| .+? \| (.+?) \|", TEXT, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(rows)))


def written(metric):
    """As the guides write it: the name, and the labels in braces."""
    name = metric._name + ("_total" if isinstance(metric, Counter) else "")
    labels = ",".join(metric._labelnames)
    return f"{name}{{{labels}}}" if labels else name


def of_pressure():
    return map(written, vars(PressureMetrics(CollectorRegistry(), on_paper=False)).values())


def of_losses():
    return map(written, vars(NodeLossMetrics(CollectorRegistry(), on_paper=False)).values())


def metrics():
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
        yield written(metric)


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
    known = {
        name.partition("{")[0] for name in (*metrics(), *collected(), *of_pressure(), *of_losses())
    }
    names = re.findall(r"(?:bailiff_worker|kubelet_evi)\w+", TEXT)
    assert {name.removesuffix("_bucket") for name in names} <= known


@pytest.mark.parametrize("metric", list(of_pressure()))
def test_every_metric_of_pressure_is_explained(metric):
    assert f"\n| `{metric}` | " in PRESSURE


@pytest.mark.parametrize("metric", list(of_losses()))
def test_every_metric_of_node_loss_is_explained(metric):
    assert f"\n| `{metric}` | " in NODE_LOSS


def test_every_reason_why_a_summary_is_not_read_is_explained():
    kinds = [KubeletError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert {kind.reason for kind in kinds} <= {cell.strip("`") for cell in first_cells()}
    assert len(kinds) > 5


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
        cancellation_event(POD, "why", PRESSURE_TERMS),
    ],
    ids=lambda note: f"{note.reason} {note.message.split(' ')[0]}",
)
def test_every_event_is_explained(note):
    begins = note.message.removesuffix(" why").removesuffix(" (paused):")
    assert f"| {note.type} | `{note.reason}` | `{begins}` |" in TEXT


def test_every_event_of_a_node_is_explained():
    turns = [*changes(CONDITIONS, (), "NODE"), *changes((), CONDITIONS, "NODE")]
    words = {note.reason for note in turns}
    assert len(words) == 6
    assert all(note.message.startswith("Node NODE status is now:") for note in turns)
    told = {*words, THRESHOLD_MET, DRY_RUN, INVALID_DISK_CAPACITY, UNKNOWN}
    assert told <= first_cells() | second_cells()


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
