"""docs/operations.md names every metric, outcome, Event and cause that there is."""

import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, Counter

from bailiff.clock import SystemClock
from bailiff.cluster import Restart
from bailiff.decisions import Finding, Verdict, cancellation_event, denial_event, eviction_event
from bailiff.decisions.policies import Cause, Hold
from bailiff.kinds import ObjectMeta, Pod
from bailiff.worker import ShadowActions, Worker, WorkerSettings
from bailiff.worker.comparison import Result
from bailiff.worker.metrics import WorkerMetrics
from bailiff.worker.notes import blocked_event, held_event
from bailiff.worker.outcomes import Outcome

TEXT = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
FINDING = Finding(system="node-taints", verdict=Verdict.EVICT_NOW, reason="R", message="why")
HOLD = Hold(cause=Cause.PAUSED, message="why")
POD = Pod(metadata=ObjectMeta(namespace="NS", name="NAME"))


def first_cells():
    """Of every row of every table."""
    rows = re.findall(r"^ *\| (.+?) \|", TEXT, re.MULTILINE)
    return {cell.strip("`") for row in rows for cell in row.split(", ")}


def metrics():
    """As the guide writes them: the name, and the labels in braces."""
    for metric in vars(WorkerMetrics(CollectorRegistry())).values():
        name = metric._name + ("_total" if isinstance(metric, Counter) else "")
        labels = ",".join(metric._labelnames)
        yield f"{name}{{{labels}}}" if labels else name


def collected():
    """Those that are counted when they are read."""
    actions = ShadowActions(lambda _: None)
    worker = Worker(actions, SystemClock(), CollectorRegistry(), WorkerSettings())
    for metric in worker.backlog.collect():
        labels = ",".join(vars(metric)["_labelnames"])
        yield f"{metric.name}{{{labels}}}" if labels else metric.name


@pytest.mark.parametrize("metric", list(metrics()) + list(collected()))
def test_every_metric_is_explained(metric):
    assert f"\n| `{metric}` | " in TEXT


@pytest.mark.parametrize("values", [Outcome, Result, Restart], ids=lambda enum: enum.__name__)
def test_every_value_of_a_label_is_explained(values):
    assert {value.value for value in values} <= first_cells()


@pytest.mark.parametrize(
    "note",
    [
        eviction_event(POD, FINDING),
        cancellation_event(POD, "why"),
        denial_event(POD, "why"),
        blocked_event(POD, "why"),
        held_event(POD, HOLD),
    ],
    ids=lambda note: note.message.split(" ")[0],
)
def test_every_event_is_explained(note):
    begins = note.message.removesuffix(" why").removesuffix(" (paused):")
    assert f"| {note.type} | `{note.reason}` | `{begins}` |" in TEXT
