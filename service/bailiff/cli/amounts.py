"""Amounts as a person reads them in a table; programs read exact numbers."""

from __future__ import annotations

from bailiff.kinds.quantity import format_binary

_UNITS = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
# Of a number that is exact.
_MOST_DIGITS = 5
# At least of one that is rounded.
_DIGITS = 3


def binary(number: int) -> str:
    """Bytes in powers of 1024, as `1796Mi`: exact where that is short, else rounded up.

    Rounded is to three digits and more, so that it is off by at most 1 %. Below 1,024 it stands as
    it is.
    """
    sign, rest = "-" if number < 0 else "", abs(number)
    if rest < 1024:
        return str(number)
    exact = format_binary(rest)
    if exact.endswith(_UNITS) and len(exact.rstrip("KMGTPEi")) <= _MOST_DIGITS:
        return sign + exact
    power = 1
    while power < len(_UNITS) and rest >= 10 ** (_DIGITS - 1) * 1024 ** (power + 1):
        power += 1
    return f"{sign}{-(-rest // 1024**power)}{_UNITS[power - 1]}"
