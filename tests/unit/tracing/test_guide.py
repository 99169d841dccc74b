"""docs/operate/tracing.md names every span and attribute that the code makes, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import bailiff
from bailiff.cli import tracing_options
from bailiff.decisions import Verdict
from bailiff.tracing.environment import VARIABLES

PACKAGE = Path(bailiff.__file__).parent
GUIDE = (Path(__file__).parents[3] / "docs" / "operate" / "tracing.md").read_text()
MAKERS = [
    *(PACKAGE / "tracing").glob("*.py"),
    PACKAGE / "rest_api/tracing.py",
    PACKAGE / "grpc_api/tracing.py",
    PACKAGE / "cluster/spans.py",
    PACKAGE / "worker/observe/traces.py",
    PACKAGE / "agent/evictions.py",
]
ATTRIBUTE = re.compile(r"(?:bailiff|http|url|rpc|k8s|error)\.[a-z_.]+[a-z]")
# Put together from the verdict.
OF_VERDICTS = {f"bailiff.verdicts.{one.value.lower()}" for one in Verdict}
# What is named alike: messages of ASGI, and of whom a trace is.
NO_ATTRIBUTES = {"http.response.start", "service.name", "service.version"}


def nodes():
    for path in MAKERS:
        yield from ast.walk(ast.parse(path.read_text()))


def attributes_of_code():
    texts = (node.value for node in nodes() if isinstance(node, ast.Constant))
    found = {text for text in texts if isinstance(text, str) and ATTRIBUTE.fullmatch(text)}
    return (found - NO_ATTRIBUTES) | OF_VERDICTS


def names_of_code():
    """Of spans that are called by a fixed name."""
    for node in nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = {"span": 0, "past": 0, "write": 1}.get(node.func.attr)
            if place is not None and len(node.args) > place:
                name = node.args[place]
                if isinstance(name, ast.Constant):
                    yield name.value


def cells(heading):
    """The first cell of each row below a heading."""
    section = GUIDE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_every_attribute_is_in_the_table_and_no_other():
    told = {one for one in cells("The spans") if ATTRIBUTE.fullmatch(one)}
    assert told == attributes_of_code()


def test_every_span_of_a_fixed_name_is_in_the_table():
    found = set(names_of_code())
    assert {"evict", "wait", "attempt", "decide", "pressure round"} == found
    assert found <= cells("The spans")


@pytest.mark.parametrize("option", list(tracing_options._OPTIONS))
def test_every_option_is_told(option):
    assert f"`--{option.replace('_', '-')}` | `BAILIFF_{option.upper()}`" in GUIDE


def plain(names):
    return {name.replace("_OTLP_TRACES_", "_OTLP_") for name in names}


def test_every_variable_of_opentelemetry_that_counts_is_told_and_no_other():
    section = GUIDE.partition("\n## Switch it on by hand\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `OTEL_")]
    told = {name for row in rows for name in re.findall(r"OTEL_[A-Z_]+", row.split("|")[1])}
    # Those of traces alone are told of in one sentence.
    assert plain(told) == plain(VARIABLES)
    assert "`OTEL_EXPORTER_OTLP_TRACES_…`" in section


def test_every_fate_is_told():
    source = (PACKAGE / "tracing" / "sending.py").read_text()
    fates = set(re.findall(r'told\.spans\("(\w+)"', source))
    assert cells("If the collector is away, slow or hostile") == fates
