"""Quantities: exact numbers with a suffix, such as `100Mi` or `250m`.

Source: k8s.io/apimachinery/pkg/api/resource/quantity.go. Numbers are kept as whole nanos (10**-9),
the finest that Kubernetes keeps, so that sums and comparisons are exact.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, NamedTuple

from msgspec import Meta

if TYPE_CHECKING:
    from collections.abc import Iterable

NANO = 10**9
# Exponents have at most three digits here; Kubernetes' objects have none that large. It ends in \Z:
# for Python, `$` is also the place before a line break at the end.
PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?\Z"
# What to tell people of one that does not match it.
MUST_BE = "must be a quantity such as 100Mi, 1.5G or 250m"
# One that is malformed is refused where it is read, with its path.
QuantityText = Annotated[str, Meta(pattern=PATTERN, max_length=64)]

_PARTS = re.compile(r"([+-]?)([0-9]*)\.?([0-9]*)(.*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {
    suffix: 10 * power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)
}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {0: "", **{power // 10: suffix for suffix, power in _BINARY.items()}}
# Digits up to which upstream reads a number the quick way, and keeps a text that is canonical.
_QUICK_DIGITS = 18
_LARGEST = (2**63 - 1) * NANO


class Format(Enum):
    """How a quantity is written: with powers of 1024, of 1000, or an exponent."""

    BINARY = "BinarySI"
    DECIMAL = "DecimalSI"
    EXPONENT = "DecimalExponent"


class Quantity(NamedTuple):
    """A quantity that has been read.

    Attributes:
        nano: its value in units of 10**-9, exactly.
        format: how it is written.
        kept: its text, where that stays as somebody wrote it.
    """

    nano: int
    format: Format
    kept: str | None = None

    @property
    def text(self) -> str:
        """As Kubernetes writes it; made when it is asked for, since of most sums nobody asks."""
        return _written(self.nano, self.format) if self.kept is None else self.kept

    @property
    def value(self) -> int:
        """The whole number next to it, away from zero (Quantity.Value)."""
        whole = -(-abs(self.nano) // NANO)
        return whole if self.nano >= 0 else -whole

    def is_below(self, number: int) -> bool:
        """Whether it is less than a whole number."""
        return self.nano < number * NANO


def whole(number: int, kind: Format) -> Quantity:
    """A whole number as a quantity (NewQuantity)."""
    return Quantity(number * NANO, kind)


def format_binary(number: int) -> str:
    """A whole number in powers of 1024, as `1Gi`; below 1,024 in powers of 1,000, as `1k`."""
    return _written(number * NANO, Format.BINARY)


def format_decimal(number: int) -> str:
    """A whole number in powers of 1,000, as `5k`."""
    return _written(number * NANO, Format.DECIMAL)


def total(quantities: Iterable[Quantity]) -> Quantity | None:
    """The sum, written as the first that is not zero (Quantity.Add); None of none.

    That of one alone keeps its text.
    """
    found = None
    for one in quantities:
        if found is None:
            found = one
        else:
            kind = one.format if found.nano == 0 else found.format
            found = Quantity(found.nano + one.nano, kind)
    return found


@lru_cache(maxsize=8192)  # a fleet has few distinct ones
def parse_quantity(text: str) -> Quantity:
    """Read a quantity (ParseQuantity).

    Args:
        text: such as `100Mi`, at most 64 characters.

    Raises:
        ValueError: it is none.
    """
    match = _PARTS.fullmatch(text) if len(text) <= 64 and re.match(PATTERN, text) else None
    if match is None:
        raise ValueError(f"{MUST_BE}, is {text[:64]!r}")
    sign, digits, fraction, suffix = match.groups()
    if suffix in _BINARY:
        kind, magnitude = Format.BINARY, _binary(digits, fraction, _BINARY[suffix])
    else:
        kind = Format.DECIMAL if suffix in _DECIMAL else Format.EXPONENT
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        magnitude = _scaled(int(digits + fraction or "0"), exponent - len(fraction) + 9)
    if kind is Format.BINARY and 0 < magnitude < NANO:
        kind = Format.DECIMAL
    nano = -magnitude if sign == "-" else magnitude
    is_kept = _is_canonical(digits.lstrip("0") or "0", fraction, suffix, kind)
    return Quantity(nano, kind, text if is_kept else None)


def _binary(digits: str, fraction: str, power: int) -> int:
    number = int(digits + fraction or "0") << power
    return min(_scaled(number, 9 - len(fraction)), _LARGEST)


def _scaled(number: int, exponent: int) -> int:
    """A number times 10**exponent; what is finer than one is rounded up, so that it is not 0."""
    factor: int = 10 ** abs(exponent)
    return number * factor if exponent >= 0 else -(-number // factor)


def _is_canonical(digits: str, fraction: str, suffix: str, kind: Format) -> bool:
    """Whether upstream keeps the text as it was written; else it writes the number anew."""
    if kind is Format.BINARY:
        return not fraction and suffix in _BINARY and _is_quick_binary(digits, _BINARY[suffix])
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    scale, shifted = exponent - len(fraction), digits + fraction
    return (
        len(shifted) <= _QUICK_DIGITS
        and scale >= -9
        and scale % 3 == 0
        and not shifted.endswith("000")
        and not shifted.startswith("0")
    )


def _is_quick_binary(digits: str, power: int) -> bool:
    quick = 15 - len(digits) - power * 3 // 10 - 1 >= 0
    return quick and int(digits) & 7 != 0


def _written(nano: int, kind: Format) -> str:
    """As Quantity.CanonicalizeBytes."""
    if nano == 0:
        return "0"
    number, rest = divmod(abs(nano), NANO)
    sign = "-" if nano < 0 else ""
    if kind is Format.BINARY and not rest and number >= 1024:
        number, times = _without_factors(number, 1024)
        return f"{sign}{number}{_BINARY_SUFFIX.get(times, '')}"
    # Not by dividing: of 1e999, which anybody may write, that takes a thousand divisions.
    digits = str(abs(nano))
    mantissa = int(digits.rstrip("0"))
    exponent = len(digits) - len(str(mantissa)) - 9
    mantissa, exponent = mantissa * 10 ** (exponent % 3), exponent - exponent % 3
    if kind is Format.EXPONENT:
        return f"{sign}{mantissa}" + (f"e{exponent}" if exponent else "")
    return f"{sign}{mantissa}{_DECIMAL_SUFFIX.get(exponent, '')}"


def _without_factors(number: int, base: int) -> tuple[int, int]:
    times = 0
    while number % base == 0:
        number, times = number // base, times + 1
    return number, times
