"""The words that the code writes into the cluster, read from its source.

A page that lists them is held against this, so a new word in the code fails a test until the page
has it. Where the code names a constant, the module that names it tells its value.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SERVICE = Path(__file__).parents[2] / "service"
# Packages that write into a cluster.
_WRITERS = ("agent", "actions", "decisions", "worker")


def reasons(kind: str, *, keyword: str = "reason") -> set[str]:
    """The constant reasons with which the code makes objects of a kind, such as `EventNote`."""
    return {
        word
        for name, call in _calls()
        if _callee(call) == kind
        for word in _values(name, call, keyword)
    }


def given(keyword: str) -> set[str]:
    """The constants that the code gives to a keyword, such as `event_reason`, in any call."""
    return {word for name, call in _calls() for word in _values(name, call, keyword)}


def unresolved(kind: str, keyword: str = "reason") -> set[str]:
    """The modules that make such an object with a reason that only running code knows."""
    return {
        name
        for name, call in _calls()
        if _callee(call) == kind
        for one in call.keywords
        if one.arg == keyword and _constant(name, one.value) is None
    }


def metric_names() -> Iterator[str]:
    """The constant names of metrics that the code makes."""
    kinds = {"Counter", "Gauge", "Histogram", "Info", "Summary"}
    for path in sorted((SERVICE / "bailiff").rglob("*.py")):
        text = path.read_text()
        if "prometheus_client" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            callee = _callee(node)
            if callee in kinds or callee.endswith("MetricFamily") or callee == "_counter":
                match node.args[0]:
                    case ast.Constant(value=str(name)):
                        yield name


@cache
def _calls() -> tuple[tuple[str, ast.Call], ...]:
    """Every call in the packages that write, with its module's name."""
    paths = [path for one in _WRITERS for path in (SERVICE / "bailiff" / one).rglob("*.py")]
    return tuple(
        (_module(path), node)
        for path in sorted(paths)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    )


def _module(path: Path) -> str:
    parts = path.relative_to(SERVICE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _callee(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _values(module: str, call: ast.Call, keyword: str) -> Iterator[str]:
    for one in call.keywords:
        if one.arg == keyword and (value := _constant(module, one.value)):
            yield value


def _constant(module: str, node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if name.isupper():
            found = getattr(importlib.import_module(module), name)
            return found if isinstance(found, str) else None
    return None
