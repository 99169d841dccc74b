"""Quality of service from requests and limits (pkg/apis/core/v1/helper/qos/qos.go)."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

_FORM = re.compile(r"^([+-]?\d{0,40}(?:\.\d{0,40})?)(?:([eE])([+-]?\d{1,3}))?([a-zA-Z]{0,2})$")
_SUFFIXES = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(1000),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_COUNTED = ("cpu", "memory")


def quantity(value: object) -> Fraction | None:
    """A Kubernetes quantity as a number; None for what is none."""
    found = _FORM.match(str(value))
    if found is None or found[1] in ("", "+", "-", ".") or found[4] not in _SUFFIXES:
        return None
    number = Fraction(found[1]) * _SUFFIXES[found[4]]
    return number * Fraction(10) ** int(found[3]) if found[2] else number


def quality_of_service(spec: JsonObject) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`. Resources of the pod as a whole come first."""
    if spec.get("resources") is not None:
        parts = [spec["resources"]]
    else:
        containers = spec.get("containers", []) + spec.get("initContainers", [])
        parts = [container.get("resources") or {} for container in containers]
    requests, limits = _sums(parts, "requests"), _sums(parts, "limits")
    if not requests and not limits:
        return "BestEffort"
    every = all(_positive(p.get("limits"), name) for p in parts for name in _COUNTED)
    return "Guaranteed" if every and requests == limits else "Burstable"


def _sums(parts: list[JsonObject], kind: str) -> dict[str, Fraction]:
    sums: dict[str, Fraction] = {}
    for item in parts:
        for name, value in (item.get(kind) or {}).items():
            amount = quantity(value) if name in _COUNTED else None
            if amount and amount > 0:
                sums[name] = sums.get(name, Fraction(0)) + amount
    return sums


def _positive(amounts: JsonObject | None, name: str) -> bool:
    amount = quantity((amounts or {}).get(name, "0"))
    return amount is not None and amount > 0
