"""The API guide, executed; and its tables against the code, so that they cannot drift.

Its pages are those of docs/api but for the client's, and the lists of codes and limits in
docs/reference.
"""

from __future__ import annotations

import re

import pytest
from google.rpc import code_pb2  # type: ignore[import-untyped]  # it ships no types

from bailiff import turns
from bailiff.cluster import ClusterSettings
from bailiff.decisions import SYSTEMS, Decision, Options, TraceStep, cost
from bailiff.decisions.decision import EvictionTerms
from bailiff.decisions.device_taints import facts as devices
from bailiff.decisions.device_taints import weighing
from bailiff.decisions.node_loss.settings import NodeLossSettings
from bailiff.decisions.question import Size
from bailiff.decisions.scheduling.maintenance import MAX_MAINTENANCES
from bailiff.decisions.scheduling.registering import MAX_PODS
from bailiff.grpc_api import GrpcSettings, counting
from bailiff.grpc_api.errors import ACCESS, NotLetInError, OverloadedError, RefusedError
from bailiff.grpc_api.services import SERVICES
from bailiff.grpc_api.settings import MAX_METADATA
from bailiff.kinds.node import MAX_NODES
from bailiff.rest_api import RestSettings
from bailiff.rest_api.problems import ProblemCode
from bailiff.rest_api.routers import health
from bailiff.rest_api.routers.questions import cluster_router
from bailiff.serving import EdgeSettings
from tests.harness.codes import spoken_codes
from tests.harness.transcripts import ROOT, name_of, run, skip_without_programs, transcripts

API, REFERENCE = ROOT / "docs" / "api", ROOT / "docs" / "reference"
PAGES = [page for page in sorted(API.glob("*.md")) if not page.name.startswith("client")]
ERRORS, LIMITS, REASONS = (REFERENCE / f"{name}.md" for name in ("errors", "limits", "reasons"))
PAGES += [ERRORS, LIMITS, REASONS]
TEXT = "\n".join(page.read_text() for page in PAGES)
FOUND = [(page, steps) for page in PAGES for steps in transcripts(page, "test_api_guide.py")]
TRANSCRIPTS = [pytest.param(steps, id=f"{page.stem}-{name_of(steps)}") for page, steps in FOUND]
TYPED = "\n".join(step.command for _, steps in FOUND for step in steps)
CODE = re.compile(r"`(\w+)`")
TABLE = re.compile(r"^\|.*\n\|[-| ]+\n((?:\|.*\n)+)", re.MULTILINE)
MIB, KIB = 1024 * 1024, 1024


def tables(page, heading=""):
    """The rows of each table of a page, or under one of its headings; without their heads."""
    text = page.read_text()
    if heading:
        section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        assert section is not None, heading
        text = section[1]
    return [[_cells(row) for row in rows.splitlines()] for rows in TABLE.findall(text)]


def _cells(row):
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def table(page, heading):
    """The rows of the first table under a heading."""
    return tables(page, heading)[0]


def codes(rows, column):
    return {code for row in rows for code in CODE.findall(row[column])}


OPTIONS = tables(API / "options.md")[0]


def lines(text):
    """Runs of blanks are one: protobuf's JSON has them as it likes."""
    return re.sub(r"[ \t]+", " ", text).splitlines()


@pytest.mark.process
@pytest.mark.parametrize("steps", TRANSCRIPTS)
def test_transcript(up, steps, tmp_path):
    skip_without_programs(steps)
    for step in steps:
        done = run(step, up, tmp_path)
        assert lines(done.stdout) == lines(step.output), (step.command, done.stdout, done.stderr)


@pytest.mark.parametrize("question", SYSTEMS.questions.values(), ids=lambda one: one.name)
def test_every_question_is_told_and_asked(question):
    assert f"`POST /v1/{question.path}`" in TEXT
    assert f":8080/v1/{question.path} " in TYPED


@pytest.mark.parametrize(
    "operation", cluster_router(SYSTEMS).routes, ids=lambda operation: operation.name
)
def test_every_look_up_is_told_and_asked(operation):
    assert f"`GET {operation.path}`" in TEXT
    path = re.sub(r"\\{\w+\\}", "[a-z-]+", re.escape(operation.path))
    assert re.search(f":8080{path}", TYPED)


@pytest.mark.parametrize("operation", health.router.routes, ids=lambda o: o.name)
def test_health_is_told_and_asked(operation):
    assert f"`GET {operation.path}`" in TEXT
    assert operation.path.removeprefix("/") in TYPED


METHODS = [method for service in SERVICES.values() for method in service.methods]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_is_told_and_asked(method):
    assert method.name in codes(table(API / "grpc.md", "Methods"), 0)
    assert re.search(rf"{method.containing_service.full_name}/{method.name}\b", TYPED)


def test_reasons_rules_and_outcomes_are_those_of_the_core():
    rules = table(REASONS, "Rules and outcomes")
    effects = table(REASONS, "Condition of a DeviceTaintRule")
    others = [rows for rows in tables(REASONS) if rows not in (rules, effects)]
    told = codes(rules, 0) | codes(rules, 1) | codes(effects, 2)
    told |= {code for rows in others for code in codes(rows, 1)}
    assert told == spoken_codes()


def test_problem_codes_are_those_of_rest():
    rows = [(CODE.findall(code)[0], http) for code, http, *_ in table(ERRORS, "Codes")]
    told = [(code, int(http)) for code, http in rows if http != "-"]
    assert told == [(code.value, code.status.value) for code in ProblemCode]


def test_grpc_codes_are_those_of_the_server():
    rows = table(ERRORS, "Codes")
    told = {CODE.findall(code)[0].upper(): grpc for code, _, grpc, *_ in rows if grpc != "-"}
    kinds: set[type[RefusedError]] = {RefusedError, *RefusedError.__subclasses__()}
    kinds |= {*OverloadedError.__subclasses__()}
    spoken = {kind.code: kind.grpc_code for kind in kinds - {NotLetInError}}
    spoken |= {reason: code for code, reason in ACCESS.values()}
    named = {code: code_pb2.Code.Name(number) for code, number in spoken.items()}
    assert told == named | {"INTERNAL": "INTERNAL"}


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (table(API / "question.md", "Fields of a question"), SYSTEMS.questions["decide"].facts),
        (table(API / "decision.md", "Fields of a decision"), Decision),
        (OPTIONS, Options),
        (table(API / "decision.md", "Trace"), TraceStep),
    ],
    ids=["question", "decision", "options", "trace"],
)
def test_fields_are_those_of_the_core(rows, kind):
    assert codes(rows, 0) == set(kind.__struct_encode_fields__)


def test_fields_of_an_eviction_are_told():
    told = codes(table(API / "decision.md", "How the eviction is done"), 0)
    assert told == set(EvictionTerms.__struct_encode_fields__) - {"eventAnnotations"}


def test_settings_of_node_loss_are_told_with_their_defaults():
    rows = tables(API / "node-loss.md", "Fields of the section")[1]
    told = {name.strip("`"): default.strip("`").lower() for name, default, _ in rows}
    names = NodeLossSettings.__struct_encode_fields__
    defaults = [f"{one}".removesuffix(".0").lower() for one in _defaults(NodeLossSettings)]
    assert told == dict(zip(names, defaults, strict=True))


def test_defaults_are_those_of_the_core():
    told = {CODE.findall(option)[0]: "true" in default for option, default, _ in OPTIONS}
    assert told == dict(zip(Options.__struct_encode_fields__, _defaults(Options), strict=True))


def _defaults(kind):
    value = kind()
    return [getattr(value, name) for name in kind.__struct_fields__]


def test_limits_are_those_of_the_code():
    rest, grpc = RestSettings(), GrpcSettings()
    small = {name for name, one in SYSTEMS.questions.items() if one.size is Size.ONE}
    assert small == {"admitUnderPressure", "readEvictionConfiguration"}
    assert dict(row for rows in tables(LIMITS) for row in rows) == {
        "body of `admitUnderPressure` and `readEvictionConfiguration`": (
            f"{rest.max_body_bytes // MIB} MiB"
        ),
        "body of another question": f"{rest.max_batch_body_bytes // MIB} MiB",
        "body of another question that announces its length": (
            f"{rest.max_long_body_bytes // MIB} MiB"
        ),
        "an AdmissionReview": f"{rest.max_review_body_bytes // MIB} MiB",
        "gRPC message of `AdmitUnderPressure` and `ReadEvictionConfiguration`": (
            f"{grpc.max_message_bytes // MIB} MiB"
        ),
        "gRPC message of another question": f"{grpc.max_batch_message_bytes // MIB} MiB",
        "gRPC messages above 4 MiB at a time": f"{grpc.max_long_messages}",
        "gRPC answer in one message": f"{grpc.max_answer_bytes // MIB} MiB",
        "entries of lists in a gRPC question": f"{counting.MAX_ITEMS:,}",
        "fields of a gRPC message": f"{counting.MAX_FIELDS:,}",
        "pods in a question": f"{cost.MAX_PODS:,}",
        "steps in a question": f"{cost.MAX_STEPS:,}",
        "an answer": f"{cost.MAX_ANSWER_BYTES // MIB} MiB",
        "ResourceClaims in a question": f"{devices.MAX_CLAIMS:,}",
        "ResourceSlices in a question": f"{devices.MAX_SLICES:,}",
        "devices in a question": f"{weighing.MAX_DEVICES:,}",
        "allocated devices in a question": f"{weighing.MAX_ALLOCATED:,}",
        "DeviceTaintRules in a question": f"{devices.MAX_RULES:,}",
        "nodes in a question, or registered in a stream": f"{MAX_NODES:,}",
        "maintenances in a question, or registered in a stream": f"{MAX_MAINTENANCES:,}",
        "pods in a request of `JudgeNodesStream`": f"{MAX_PODS:,}",
        "time to send the head": f"{rest.header_timeout_seconds:g} s",
        "time to read an HTTP answer": f"{rest.answer_timeout_seconds:g} s",
        "length of the head": f"{rest.max_header_bytes // KIB} KiB",
        "time to send the body": f"{rest.body_timeout_seconds:g} s",
        "time to read from the cluster": f"{rest.cluster_timeout_seconds:g} s",
        "an answer of the cluster to a look-up; a list comes in pages below it": (
            f"{ClusterSettings().max_response_bytes // MIB} MiB"
        ),
        "look-ups in the cluster at a time; others wait": f"{rest.max_cluster_reads}",
        "idle HTTP connection": f"{rest.keep_alive_seconds} s",
        "questions in threads at a time; others wait": f"{rest.max_threads}",
        "time to wait for a turn over REST": f"{rest.max_queue_age_seconds:g} s",
        "bytes of HTTP bodies and unread answers": (
            f"{EdgeSettings().max_bytes_under_way // MIB} MiB"
        ),
        "HTTP connections": f"{rest.max_connections:,}",
        "HTTP connections of one address": f"{rest.max_connections_per_peer}",
        "time to send a gRPC message": f"{grpc.message_timeout_seconds:g} s",
        "time to read a gRPC answer": f"{grpc.answer_timeout_seconds:g} s",
        "time that a gRPC call waits until it begins": f"{grpc.max_queue_age_seconds:g} s",
        "gRPC calls at a time; of one address half": f"{grpc.max_concurrent_rpcs:,}",
        "gRPC streams of requests at a time; of one address half": f"{grpc.max_streams}",
        "rest between two messages of a gRPC stream": f"{grpc.stream_idle_seconds:g} s",
        "gRPC calls that follow the health at a time; of one address half": f"{grpc.max_watches}",
        "headers of a gRPC call": f"{MAX_METADATA // KIB} KiB",
        "gRPC connections": f"{grpc.max_connections:,}",
        "gRPC connections of one address": f"{grpc.max_connections_per_peer}",
        "gRPC calls at a time on a connection": f"{grpc.max_concurrent_streams}",
        "age of a gRPC connection": f"{grpc.max_connection_age_seconds:g} s",
    }


def test_what_is_answered_in_a_thread_is_told():
    text = " ".join(LIMITS.read_text().split())
    assert f"It has more than {cost.QUICK_STEPS:,} steps." in text
    assert f"Its answer may have more than {cost.QUICK_BYTES // MIB} MiB." in text
    assert f"Its body has more than {turns.LONG_JSON // KIB} KiB over REST." in text
    assert f"Its message has more than {turns.LONG_PROTOBUF // KIB} KiB over gRPC." in text
    assert f"Each object counts as {turns.OBJECT} bytes more." in text
