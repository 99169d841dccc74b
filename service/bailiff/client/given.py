"""What callers hand over, looked at before anything is sent: the same for all four clients.

What is asked about is data, so a question that cannot be one is an InvalidQuestionError, as if the
server had refused it. All else is the program's, where a TypeError or ValueError names the
argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.message import Message

from bailiff.client.errors import BailiffError, Failure, FieldError, InvalidQuestionError

# A day: what waits is then within the bounds of all clocks and timers that there are.
LONGEST_SECONDS = 86_400


def seconds(given: object, name: str) -> float:
    """A time as a number; what is below 0 is 0. TypeError, ValueError."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise TypeError(f"{name} is a number of seconds, not {type(given).__name__}")
    # In this form of what is no number (NaN), too.
    if not given <= LONGEST_SECONDS:
        raise ValueError(f"{name} is at most {LONGEST_SECONDS} s")
    return float(given) if given > 0 else 0.0


def whole(given: object, name: str, least: int) -> None:
    """Check that it is a number to count by; TypeError, ValueError."""
    if isinstance(given, bool) or not isinstance(given, int):
        raise TypeError(f"{name} is a whole number, not {type(given).__name__}")
    if given < least:
        raise ValueError(f"{name} must be {least} or more")


def kind(given: object, wanted: type, told: str) -> None:
    """Check of which type it is; TypeError."""
    if not isinstance(given, wanted):
        raise TypeError(f"{told}, not {type(given).__name__}")


def address(given: object) -> str:
    """An address as a text without spaces, which no part of one has; TypeError, ValueError."""
    if not isinstance(given, str):
        raise TypeError(f"an address is a text, not {type(given).__name__}")
    if not given.isprintable() or " " in given:
        raise ValueError(f"not an address: {given!a}")
    return given


def invalid(path: str, reason: str) -> BailiffError:
    """That the question cannot be read, and where."""
    return InvalidQuestionError(
        Failure("invalid_field", f"{path}: {reason}", (FieldError(path, reason),))
    )


def check_question(facts: object, kind: type[Message]) -> None:
    """InvalidQuestionError: it is neither such a message nor a mapping."""
    if not isinstance(facts, kind | Mapping):
        raise invalid("$", f"expected {kind.__name__} or a mapping, got {type(facts).__name__}")


def listed(given: object, path: str) -> list[Any]:
    """What callers give several of; InvalidQuestionError where it is one alone, as is a text."""
    if isinstance(given, str | bytes | Mapping | Message) or not isinstance(given, Iterable):
        raise invalid(path, f"expected a list, got {type(given).__name__}")
    return list(given)
