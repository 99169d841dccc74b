"""The version of a kubelet, by which some of what it does differs."""

from __future__ import annotations

import re
from functools import lru_cache

from bailiff.decisions.cost import FactsError

# Of a kubelet of which no version is told: that before the first change (1.37).
_DEFAULT = 36
_VERSION = re.compile(r"v?1\.([0-9]{1,4})([.+-].*)?")


def told_version(text: str) -> str:
    """What a node says of its kubelet's version; empty where that is none.

    Nobody checks what a node says of itself, and one that runs no kubelet may say anything.
    """
    return text if _VERSION.fullmatch(text) else ""


@lru_cache(maxsize=64)
def minor_of(version: str) -> int:
    """The minor version of `v1.36.2`; 36 where none is told."""
    found = _VERSION.fullmatch(version)
    return _DEFAULT if found is None else int(found[1])


def check_version(version: str, path: str) -> None:
    """Whether a question names a version that there is; empty: it names none.

    Raises:
        FactsError: it is none.
    """
    if version and not told_version(version):
        raise FactsError(path, f"must be a version such as v1.36.2, is {version!r}")
