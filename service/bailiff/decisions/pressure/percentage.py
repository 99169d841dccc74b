"""Percentages of thresholds, as the kubelet takes them: float32s, parts of 1.

Source: parsePercentage in pkg/kubelet/eviction/helpers.go.
"""

from __future__ import annotations

import re
import struct
from fractions import Fraction

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_HEXADECIMAL = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]{1,3}"
)
# More than any float32.
_BEYOND = 10**39
_LARGEST = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def parse_percentage(text: str) -> float:
    """The part of 1 that a text such as `10%` stands for: the value of a Go float32.

    Raises:
        ValueError: it is no number with one percent sign, or too large for a float32.
    """
    number = text.removesuffix("%")
    if _DECIMAL.fullmatch(number):
        exact = Fraction(number)
    elif _HEXADECIMAL.fullmatch(number):
        exact = _from_hexadecimal(number)
    else:
        raise ValueError(f"must be a percentage such as 10%, is {text[:64]!r}")
    if abs(exact) > _LARGEST:
        raise ValueError(f"must be a percentage such as 10%, {text[:64]!r} is out of range")
    # Go's float32 divided by 100 as a float32: of a quotient, rounding twice is rounding once.
    return _as_float32(_nearest_float32(exact) / 100)


def _from_hexadecimal(number: str) -> Fraction:
    try:
        return Fraction(float.fromhex(number))
    except OverflowError:
        # Beyond a float64 is beyond a float32.
        return Fraction(_BEYOND)


def _nearest_float32(exact: Fraction) -> float:
    """Rounded once: by way of a float64 it might be rounded twice."""
    rounded = _as_float32(float(exact))
    candidates = {rounded, *_neighbours(rounded)}
    return min(candidates, key=lambda one: (abs(Fraction(one) - exact), _bits(one) & 1))


def _neighbours(number: float) -> list[float]:
    bits = _bits(number)
    around = (bits - 1, bits + 1) if bits & 0x7FFFFFFF else (bits, bits + 1)
    found = [struct.unpack("<f", struct.pack("<I", one & 0xFFFFFFFF))[0] for one in around]
    return [one for one in found if abs(one) <= _LARGEST]


def _bits(number: float) -> int:
    bits: int = struct.unpack("<I", struct.pack("<f", number))[0]
    return bits


def _as_float32(number: float) -> float:
    value: float = struct.unpack("<f", struct.pack("<f", number))[0]
    return value
