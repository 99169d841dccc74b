"""Does a toleration tolerate a taint? (k8s.io/component-helpers/scheduling/corev1, KEP-5471)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bailiff.kinds import INT64_MAX, INT64_MIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds import Taint, Toleration

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")


def tolerates(toleration: Toleration, taint: Taint, *, comparison_operators: bool = False) -> bool:
    """Whether one toleration matches one taint.

    An empty key or effect in the toleration matches any. All comparisons are case-sensitive; an
    unknown operator never matches.

    Args:
        toleration: the pod's.
        taint: the node's.
        comparison_operators: the gate TaintTolerationComparisonOperators; Lt and Gt never match
            without it.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt" if comparison_operators:
            return _compares(toleration, taint)
        case _:
            return False


def first_tolerating(
    tolerations: Iterable[Toleration], taint: Taint, *, comparison_operators: bool
) -> tuple[int, Toleration] | None:
    """The first toleration that matches, with its index: the one that counts. None: none does."""
    for index, toleration in enumerate(tolerations):
        if tolerates(toleration, taint, comparison_operators=comparison_operators):
            return index, toleration
    return None


def _compares(toleration: Toleration, taint: Taint) -> bool:
    bound, value = _integer(toleration.value), _integer(taint.value)
    if bound is None or value is None:
        return False
    return value < bound if toleration.operator == "Lt" else value > bound


def _integer(text: str) -> int | None:
    """An int64 in canonical decimal form; anything else (`05`, `+5`, `-0`, ` 5`) is none."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if INT64_MIN <= number <= INT64_MAX else None
