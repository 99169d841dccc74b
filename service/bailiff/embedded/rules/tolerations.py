"""Taints and tolerations (pkg/apis/core/validation: ValidateTolerations, validateNodeTaints)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.errors import Cause
from bailiff.embedded.rules.names import check_key, label_value

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

NO_EXECUTE = "NoExecute"
EFFECTS = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
# DefaultTolerationSeconds' default for both.
_DEFAULT_SECONDS = 300


def check_taints(taints: list[JsonObject], field: str) -> list[Cause]:
    """Causes against a node's taints."""
    causes: list[Cause] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        place = f"{field}[{index}]"
        causes += _check_taint(taint, place)
        identity = (taint.get("key", ""), taint.get("effect", ""))
        if identity in seen:
            causes.append(_not_unique(taint, place))
        seen.add(identity)
    return causes


def _not_unique(taint: JsonObject, place: str) -> Cause:
    shown = f'{{"key":"{taint.get("key", "")}","effect":"{taint.get("effect", "")}"}}'
    text = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
    return Cause("FieldValueDuplicate", place, text)


def _check_taint(taint: JsonObject, place: str) -> list[Cause]:
    causes = check_key(f"{place}.key", taint.get("key", ""))
    value = taint.get("value", "")
    if wrong := label_value(value):
        causes.append(Cause.invalid(f"{place}.value", value, wrong))
    effect = taint.get("effect", "")
    if not effect:
        causes.append(Cause.required(f"{place}.effect"))
    elif effect not in EFFECTS:
        causes.append(Cause.not_supported(f"{place}.effect", effect, EFFECTS))
    return causes


def check_tolerations(tolerations: list[JsonObject], field: str) -> list[Cause]:
    """Causes against a pod's tolerations."""
    causes: list[Cause] = []
    for index, toleration in enumerate(tolerations):
        place = f"{field}[{index}]"
        causes += _check_key_and_seconds(toleration, place)
        causes += _check_operator(toleration, place)
        effect = toleration.get("effect", "")
        if effect and effect not in EFFECTS:
            causes.append(Cause.not_supported(f"{place}.effect", effect, EFFECTS))
    return causes


def _check_key_and_seconds(toleration: JsonObject, place: str) -> list[Cause]:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    effect = toleration.get("effect", "")
    causes = check_key(f"{place}.key", key) if key else []
    if not key and operator != "Exists":
        text = (
            "operator must be Exists when `key` is empty, which means "
            '"match all values and all keys"'
        )
        causes.append(Cause.invalid(f"{place}.operator", operator, text))
    if toleration.get("tolerationSeconds") is not None and effect != NO_EXECUTE:
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        causes.append(Cause.invalid(f"{place}.effect", effect, text))
    return causes


def _check_operator(toleration: JsonObject, place: str) -> list[Cause]:
    value = toleration.get("value", "")
    field = f"{place}.operator"
    match toleration.get("operator", ""):
        case "Equal" | "":
            wrong = label_value(value)
            return [Cause.invalid(field, value, wrong)] if wrong else []
        case "Exists":
            text = "value must be empty when `operator` is 'Exists'"
            return [Cause.invalid(field, value, text)] if value else []
        case "Lt" | "Gt" as operator:
            # The gate TaintTolerationComparisonOperators is off, as it is by default.
            return [Cause.not_supported(field, operator, ("Equal", "Exists", "Lt", "Gt"))]
        case operator:
            return [Cause.not_supported(field, operator, ("Equal", "Exists"))]


def add_default_tolerations(pod: JsonObject) -> None:
    """The admission plugin DefaultTolerationSeconds: 300 s for unready and unreachable nodes."""
    tolerations: list[JsonObject] = pod["spec"].setdefault("tolerations", [])
    for key in (_NOT_READY, _UNREACHABLE):
        if not any(_speaks_of(toleration, key) for toleration in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": NO_EXECUTE,
                    "tolerationSeconds": _DEFAULT_SECONDS,
                }
            )


def _speaks_of(toleration: JsonObject, key: str) -> bool:
    effect = toleration.get("effect", "")
    return toleration.get("key", "") in (key, "") and effect in (NO_EXECUTE, "")


def add_not_ready_taint(node: JsonObject) -> None:
    """The admission plugin TaintNodesByCondition: a new node starts as not ready."""
    taints: list[JsonObject] = node.setdefault("spec", {}).setdefault("taints", [])
    if not any(t.get("key") == _NOT_READY and t.get("effect") == "NoSchedule" for t in taints):
        taints.append({"key": _NOT_READY, "effect": "NoSchedule"})
