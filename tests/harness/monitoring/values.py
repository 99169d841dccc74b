"""What the code puts into labels, for each label that an alert or a panel chooses values of.

Where the code has an enumeration or a constant, it is asked. Where it has but a word in the call
that counts, the call is looked up in its source: a word that is renamed there is missing here.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING

import grpc
from prometheus_client import CollectorRegistry

from bailiff.access import guard
from bailiff.access.metrics import AccessMetrics
from bailiff.agent.fates import Fate
from bailiff.clock import SystemClock
from bailiff.cluster.kubelets.errors import KubeletError
from bailiff.grpc_api import connection, doorman
from bailiff.serving.bounds import Reason
from bailiff.tracing import sending
from bailiff.webhooks.metrics import Result
from bailiff.webhooks.mutate_pods import MutatePods
from bailiff.webhooks.validate_evictions import ValidateEvictions
from bailiff.webhooks.validate_placement import ValidatePods
from bailiff.worker import Comparison, ShadowActions, Worker, WorkerSettings
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.systems.device_taints import rule_status
from bailiff.worker.systems.node_loss import keeper, marker, notes
from bailiff.worker.systems.node_loss.metrics import STATES as LOST
from bailiff.worker.systems.pressure import node_writer, system
from bailiff.worker.systems.pressure.fleet import STATES as PRESSED
from tests.harness.helm.chart import CHART

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# Which release it is: of the target, and held to the chart elsewhere.
OF_THE_RELEASE = {"job", "namespace"}
# Source: WebhookRejectionErrorType in k8s.io/apiserver/pkg/admission/metrics/metrics.go.
_ERROR_TYPES = {"calling_webhook_error", "apiserver_internal_error", "no_error"}


@cache
def values() -> dict[str, dict[str, set[str]]]:
    """All values of a label, by metric and label."""
    reads = {"fate": _kubelet_reasons() | _words(system, "labels")}
    writes = {"fate": _words(node_writer, "labels") | _assigned(node_writer, "_written")}
    about_lost = (keeper, marker, notes)
    webhooks = {"name": _webhooks()}
    return {
        "bailiff_worker_backlog": {"cause": _causes()},
        "bailiff_worker_rule_status_writes_total": {
            "fate": {one.value for one in Outcome} | _assigned(rule_status, "_WRITTEN")
        },
        "bailiff_worker_pressure_nodes": {"state": set(PRESSED)},
        "bailiff_worker_pressure_reads_total": reads,
        "bailiff_worker_pressure_writes_total": writes,
        "bailiff_worker_node_loss_nodes": {"state": set(LOST)},
        "bailiff_worker_node_loss_writes_total": {
            "fate": set.union(
                *(_words(one, "labels") | _assigned(one, "_written") for one in about_lost)
            )
        },
        "bailiff_agent_attempts_total": {"fate": {one.value for one in Fate}},
        "bailiff_admission_requests_total": {
            "result": {one.value for one in Result},
            "hook": {one.path for one in (MutatePods, ValidatePods, ValidateEvictions)},
        },
        "bailiff_http_refused_total": {"reason": {one.value for one in Reason}},
        "bailiff_grpc_connections_ended_total": {"reason": _reasons_of_grpc()},
        "bailiff_rest_requests_total": {"status": {str(one.value) for one in HTTPStatus}},
        "bailiff_grpc_requests_total": {"code": {one.name for one in grpc.StatusCode}},
        "bailiff_authentication_total": {
            "outcome": _counted_of_callers() & set(AccessMetrics().authentication)
        },
        "bailiff_tracing_spans_total": {"fate": _words(sending, "spans", at=0)},
        "apiserver_admission_webhook_fail_open_count": webhooks,
        "apiserver_admission_webhook_rejection_count": webhooks | {"error_type": _ERROR_TYPES},
    }


def unknown_values(metric: str, label: str, how: str, value: str) -> list[str]:
    """Those of a matcher that the code does not put there; KeyError: nobody has told which it may.

    Args:
        metric: that is chosen from.
        label: that chooses.
        how: as PromQL writes it: `=`, `!=`, `=~` or `!~`.
        value: of the matcher; of an expression each alternative has to match something.
    """
    there = values()[metric][label]
    if "~" not in how:
        return [value] if value not in there else []
    return [one for one in value.split("|") if not any(re.fullmatch(one, known) for known in there)]


def _causes() -> set[str]:
    clock = SystemClock()
    shadow = ShadowActions(Comparison(clock))
    return set(Worker(shadow, clock, CollectorRegistry(), WorkerSettings()).backlog.counts())


def _kubelet_reasons() -> set[str]:
    def below(kind: type[KubeletError]) -> Iterator[str]:
        yield kind.reason
        for one in kind.__subclasses__():
            yield from below(one)

    return set(below(KubeletError))


def _reasons_of_grpc() -> set[str]:
    overdue = {
        word
        for one in ast.walk(_tree(doorman))
        if isinstance(one, ast.FunctionDef) and one.name == "_overdue"
        for told in ast.walk(one)
        if isinstance(told, ast.Return) and told.value is not None
        for word in _strings(told.value)
    }
    ended = _words(doorman, "connections_ended", "end") | _words(connection, "end", at=1)
    # Those of a listener, which has no request to speak of yet.
    return ended | overdue | {Reason.OPEN_FILES.value, Reason.TLS_HANDSHAKE.value}


def _counted_of_callers() -> set[str]:
    return {
        word
        for one in ast.walk(_tree(guard))
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Subscript)
        for word in _strings(one.target.slice)
    }


def _webhooks() -> set[str]:
    template = (CHART / "templates" / "_webhooks.tpl").read_text()
    [end] = re.findall(r"- name: \{\{ kebabcase \$name \}\}(\S+)", template)
    return {f"validate-pods{end}"}


def _words(module: ModuleType, *methods: str, at: int = -1) -> set[str]:
    """The strings that a module passes to these methods, at a place among the arguments."""
    return {
        word
        for one in ast.walk(_tree(module))
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        if one.func.attr in methods and one.args
        for word in _strings(one.args[at])
    }


def _assigned(module: ModuleType, name: str) -> set[str]:
    return {
        word
        for one in ast.walk(_tree(module))
        if isinstance(one, ast.Assign)
        if any(name in {getattr(to, "attr", ""), getattr(to, "id", "")} for to in one.targets)
        for word in _strings(one.value)
    }


def _strings(tree: ast.AST) -> set[str]:
    return {
        one.value
        for one in ast.walk(tree)
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value
    }


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))
