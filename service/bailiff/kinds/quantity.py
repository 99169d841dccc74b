"""Quantities (k8s.io/apimachinery/pkg/api/resource): exact numbers with a suffix, such as `100Mi`."""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Annotated, NamedTuple

from msgspec import Meta

PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?$"
QuantityText = Annotated[str, Meta(pattern=PATTERN, max_length=64)]

_PARTS = re.compile(r"^([+-]?[0-9.]+)(.*)$")
_FACTORS = {
    "": Decimal(1),
    **{s: Decimal(10) ** (3 * i) for i, s in enumerate(("n", "u", "m"), -3)},
    **{s: Decimal(10) ** (3 * i) for i, s in enumerate("kMGTPE", 1)},
    **{f"{s}i": Decimal(1024) ** i for i, s in enumerate("KMGTPE", 1)},
}


class Quantity(NamedTuple):
    """A parsed quantity."""

    amount: Decimal
    text: str

    @property
    def value(self) -> int:
        """Rounded up to a whole number."""
        return int(self.amount.to_integral_value(ROUND_CEILING))


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity:
    """Raises ValueError."""
    match = _PARTS.match(text)
    if match is None:
        raise ValueError(text)
    number, suffix = match.groups()
    factor = _FACTORS.get(suffix)
    if factor is None:
        factor = Decimal(f"1{suffix}")
    return Quantity(Decimal(number) * factor, text)
