"""What a question may cost: the one set of limits behind REST, gRPC and the command line.

Every system counts its own work from the lengths of what it is given, before any of it is done:
how many rules would be looked at, and how long the answer could become. What all of them count
together is held against the limits here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

# Pods in one question: those of a cluster of 5,000 nodes that use devices.
MAX_PODS = 20_000
# Rules looked at for one question, such as one toleration held against one taint: about half a
# second of work.
MAX_STEPS = 1_000_000
# Steps up to which a question is answered where it arrives, about 10 ms; above that it is to be
# answered where nobody waits behind it.
QUICK_STEPS = 20_000
# Bytes of an answer, as counted, up to which it is written where the question arrived, about 10 ms.
QUICK_BYTES = 8 * 1024 * 1024
# Bytes of one answer as JSON.
MAX_ANSWER_BYTES = 32 * 1024 * 1024


class FactsError(ValueError):
    """A question that cannot be asked.

    Attributes:
        path: the field at fault, as `$.node`.
        reason: what is wrong and what is allowed.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


# A struct of msgspec is made in a tenth of the time of a NamedTuple; each question makes several.
class Cost(Struct, frozen=True, gc=False):
    """What a system's part of an answer costs at most.

    Attributes:
        steps: rules looked at, each about half a microsecond.
        told: bytes that the answer may have for it, as JSON.
        path: the field that makes it so much, to be named where it is too much.
    """

    steps: int = 0
    told: int = 0
    path: str = "$"


def check_cost(costs: Sequence[Cost]) -> Cost:
    """All of them together, where the steps and the length of the answer are allowed.

    Raises:
        FactsError: more than MAX_STEPS or MAX_ANSWER_BYTES; names what costs most.
    """
    steps = told = 0
    for cost in costs:
        steps += cost.steps
        told += cost.told
    if steps > MAX_STEPS:
        path = max(costs, key=lambda cost: cost.steps).path
        raise FactsError(path, f"needs {steps} comparisons, at most {MAX_STEPS} are allowed")
    if told > MAX_ANSWER_BYTES:
        path = max(costs, key=lambda cost: cost.told).path
        raise FactsError(
            path,
            f"the answer could have {told} bytes, at most {MAX_ANSWER_BYTES} are allowed: "
            "ask in several questions, or without a trace",
        )
    return Cost(steps, told)


def check_number(path: str, number: int, most: int) -> None:
    """Refuse too long a list.

    Raises:
        FactsError: as said.
    """
    if number > most:
        raise FactsError(path, f"at most {most} are allowed, there are {number}")
