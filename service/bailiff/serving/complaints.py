"""What is wrong with a process: a word for whoever asks, and the rest for those who may know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Complaint(NamedTuple):
    """One thing that is wrong.

    Attributes:
        check: which, in a stable word that names no object: whoever reaches a probe may read it.
        detail: for people with the right to know; names of objects, and what the API server said.
    """

    check: str
    detail: str


def in_words(complaints: Sequence[Complaint], what: str) -> str:
    """What a probe answers, as `not ready: policies, watches`; `ok` if nothing is wrong.

    Args:
        complaints: whatever is wrong.
        what: what that makes of the process, as `not ready`.
    """
    checks = dict.fromkeys(one.check for one in complaints)
    return f"{what}: {', '.join(checks)}" if checks else "ok"
