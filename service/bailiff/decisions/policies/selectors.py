"""Does a label selector choose these labels? (apimachinery pkg/labels/selector.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.policies.fields import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.decisions.policies.fields import LabelSelector, Requirement


def selects(selector: LabelSelector, labels: Mapping[str, str]) -> bool:
    """Whether all requirements are met; a selector without any selects everything."""
    for key, value in selector.match_labels.items():
        if labels.get(key) != value:
            return False
    return all(_meets(requirement, labels) for requirement in selector.match_expressions)


def _meets(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """One requirement; NotIn and DoesNotExist are met by labels without the key."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case Operator.IN:
            return value is not None and value in requirement.values
        case Operator.NOT_IN:
            return value is None or value not in requirement.values
        case Operator.EXISTS:
            return value is not None
        case Operator.DOES_NOT_EXIST:
            return value is None
