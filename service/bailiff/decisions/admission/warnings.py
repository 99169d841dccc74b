"""Warnings of an admission webhook, as kube-apiserver and kubectl bear them.

The API server leaves out a warning with a control character, and everything once all of a request
are too long (apimachinery pkg/util/net/http.go: NewWarningHeader; apiserver
pkg/endpoints/filters/warning.go); the API asks for 120 characters each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Characters of one, and how many of them a review is answered with.
MAX_WARNING, MAX_WARNINGS = 120, 20
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ELLIPSIS = "…"


def cut_warnings(warnings: Iterable[str]) -> tuple[str, ...]:
    """The same, each once and within its bounds; of too many the last says how many are left out.

    Args:
        warnings: of any length and number; empty ones are left out.
    """
    found = [*dict.fromkeys(cut for one in warnings if (cut := _cut(one)))]
    if len(found) <= MAX_WARNINGS:
        return tuple(found)
    kept = MAX_WARNINGS - 1
    return (*found[:kept], f"and {len(found) - kept} more warnings")


def _cut(warning: str) -> str:
    text = _UNPRINTABLE.sub(" ", warning).strip()
    return text if len(text) <= MAX_WARNING else text[: MAX_WARNING - 1].rstrip() + _ELLIPSIS
