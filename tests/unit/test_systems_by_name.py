"""A system is one folder and one line in the registry: nothing else decides by its name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS, System

SERVICE = Path(__file__).parents[2] / "service"
SECTIONS = {system.section for system in SYSTEMS.all}


def names_of(system: System[Any]) -> tuple[str, ...]:
    """As people, fields and classes have it; of fields that are about one of its things, too."""
    words = system.name.split("-")
    one = system.section.removesuffix("s")
    return system.name, system.section, "".join(map(str.capitalize, words)), f"{one}_"


NAMES = re.compile("|".join(re.escape(name) for one in SYSTEMS.all for name in names_of(one)))
# Where the systems are listed, and the settings of decisions, of which some are one system's.
ALLOWED = {"decisions/registry.py", "worker/systems/__init__.py"}
SETTINGS = {"decisions/options.py", "cli/decision_options.py"}
# A command that only one system answers; and Kubernetes' own words.
COMMANDS = {"cli/explain.py", "cli/pressure.py", "cli/pressure_files.py", "cli/pressure_shown.py"}
COMMANDS |= {"cli/built_in.py"}
KUBERNETES = {"kinds/kubelet_configuration.py", "cluster/node_slimming.py"}
# Keys of its taints.
KUBERNETES |= {"decisions/admission/tolerations.py"}
# Names of annotations.
KUBERNETES |= {"kinds/meta.py"}
# A mode of the worker that an operator has to choose: its options, and where they are put together.
OPT_IN = {"cli/pressure_options.py", "cli/processes.py", "bootstrap/pressure.py"}
OPT_IN |= {"cli/node_loss_options.py", "bootstrap/node_loss.py"}
OPT_IN |= {
    "bootstrap/pressure_files.py",
    "bootstrap/choices.py",
    "bootstrap/settings.py",
    "bootstrap/work.py",
}
NAMED = ALLOWED | SETTINGS | COMMANDS | KUBERNETES | OPT_IN
# Questions to try, of each system its own.
EXAMPLES = "rest_api/examples/"
# Asked by one system whether a machine is off, in that one's words.
FENCING = "fencing/"
# Those who ask: methods and arguments for what some systems are told. It decides nothing.
CLIENT = "client/"
# The agent on a node, which does what one system does: the kubelet's rounds.
AGENT = ("agent/", "bootstrap/agent", "cli/agent")
# What protoc makes of the messages that they bring.
GENERATED = "v1/"


def is_of_a_system(path: str) -> bool:
    """In its half of the core or of the worker."""
    for half in ("decisions/", "worker/systems/"):
        if path.startswith(half):
            return path.removeprefix(half).split("/")[0].removesuffix(".py") in SECTIONS
    return False


def files() -> Iterator[tuple[str, Path]]:
    for path in sorted((SERVICE / "bailiff").rglob("*.py")):
        name = path.relative_to(SERVICE / "bailiff").as_posix()
        if not (
            name in NAMED
            or name.startswith((GENERATED, EXAMPLES, CLIENT, FENCING, *AGENT))
            or is_of_a_system(name)
        ):
            yield name, path


def said_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name and every text of a program, but for its docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                yield line, text
            case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text):
                yield line, text
            case ast.ImportFrom(module=str(text)):
                yield line, text
            case ast.alias(name=text) | ast.keyword(arg=str(text)):
                yield line, text
            case _:
                pass


def named_in(text: str) -> list[str]:
    return [f"{line}: {said}" for line, said in said_in(ast.parse(text)) if NAMES.search(said)]


def test_nothing_decides_by_a_systems_name() -> None:
    found = {name: named_in(path.read_text()) for name, path in files()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "from bailiff.worker import DeviceTaintsInWorker",
        "settings.device_taint_eviction",
        'if finding.system == "node-taints": pass',
        "from bailiff.decisions import node_taints",
        "from bailiff.decisions.device_taints import SYSTEM",
        "facts.device_taints",
        "ask(node_taints=1)",
        "f'of {x} by node-taints'",
    ],
)
def test_it_would_be_found(text: str) -> None:
    assert named_in(text)


def test_prose_may_name_them() -> None:
    assert not named_in('"""Of node-taints."""\nclass A:\n    """device-taints"""\n# node-taints\n')
