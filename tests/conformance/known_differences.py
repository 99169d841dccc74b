"""Where our answer differs from upstream's on purpose.

An entry is a rule about inputs, never a list of cases, so that it holds for cases never seen. It
excuses only the fields it names: all others must still agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

# Upstream computes time.Duration(seconds) * time.Second in int64 nanoseconds.
_LARGEST_SECONDS = (2**63 - 1) // 10**9


@dataclass(frozen=True)
class Difference:
    """A named repair.

    Attributes:
        name: as docs/differences-from-upstream.md has it.
        system: the file of cases it speaks of.
        reason: why ours is right.
        applies: whether these inputs meet it.
        fields: the fields of the answer that may differ where it applies.
    """

    name: str
    system: str
    reason: str
    applies: Callable[[Json], bool]
    fields: frozenset[str]


def _overflows(case: Json) -> bool:
    return any(
        (toleration.get("tolerationSeconds") or 0) > _LARGEST_SECONDS
        for toleration in case["tolerations"] or ()
    )


DIFFERENCES = (
    Difference(
        name="toleration-seconds-overflow",
        system="node_taint",
        reason="more than 9223372036 s overflow upstream's int64 nanoseconds and become 'now' or "
        "'never'; ours is a very far deadline",
        applies=_overflows,
        fields=frozenset({"minTolerationSeconds", "action"}),
    ),
)


def explaining(system: str, case: Json, differing: set[str]) -> Difference | None:
    """The rule that explains why these fields differ, if there is one."""
    for difference in DIFFERENCES:
        covers = difference.system == system and differing <= difference.fields
        if covers and difference.applies(case):
            return difference
    return None
