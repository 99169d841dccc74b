"""The import contract about OpenTelemetry lists every module that is to do without it."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import bailiff
import bailiff.tracing

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
# These load it.
KNOW_IT = {"bailiff.tracing.otlp", "bailiff.tracing.sending"}


def modules_of(package):
    return {one.name for one in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")}


def test_the_contract_lists_every_module_but_those_that_know_opentelemetry():
    contracts = tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]
    (ours,) = (one for one in contracts if "opentelemetry" in one["name"].lower())
    there = modules_of(bailiff) | modules_of(bailiff.tracing)
    # A package's list holds what is in it, too; `python -m bailiff` only calls the command line.
    without = there - KNOW_IT - {"bailiff.tracing", "bailiff.__main__"}
    assert set(ours["source_modules"]) == without
