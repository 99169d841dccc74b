"""The stable codes that the core speaks, read from its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import bailiff.decisions
from bailiff.decisions import SYSTEMS
from bailiff.decisions.device_taints.pods import USED
from bailiff.decisions.node_loss.findings import CAUSE, DOUBTED, LEFT_TO_TAINTS, READY, STUCK
from bailiff.decisions.node_loss.standing import NodeState
from bailiff.decisions.node_loss.zones import ALL_DOWN, ZONE_DOWN
from bailiff.decisions.pressure.ranking import RankKey

# A stable code is one word in capitals and small letters, which no message is.
_WORD = re.compile(r"[A-Z][a-z]+[A-Za-z]*")
# Kubernetes' words, not ours: types of Events, operators of tolerations, kinds, phases, statuses.
_KUBERNETES_WORDS = {"Normal", "Warning", "Equal", "Exists", "Lt", "Gt"}
_KUBERNETES_WORDS |= {
    "StatefulSet",
    "DeletingAllPods",
    "DaemonSet",
    "PodGroup",
    "Pending",
    "True",
    "False",
}
# Names of types that are made at run time.
_TYPES = {"Reports"} | {
    kind.__name__ for one in SYSTEMS.questions.values() for kind in (one.facts, one.answer)
}


def spoken_codes() -> set[str]:
    """Reasons, rules, outcomes, and reasons of conditions."""
    of_losses = {CAUSE, DOUBTED, LEFT_TO_TAINTS, STUCK, READY.reason, ALL_DOWN, ZONE_DOWN}
    return {*_said(), *RankKey, USED, *of_losses, *NodeState} - _KUBERNETES_WORDS - _TYPES


def _said() -> Iterator[str]:
    """The words that the core's functions speak."""
    for module in Path(bailiff.decisions.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
            yield from (t for t in texts if isinstance(t, str) and _WORD.fullmatch(t))
