"""The rules of one kind: which functions look at its objects, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bailiff.embedded.errors import Cause
from bailiff.embedded.objects import JsonObject

Mutate: TypeAlias = Callable[[JsonObject], None]
Check: TypeAlias = Callable[[JsonObject], list[Cause]]
Compare: TypeAlias = Callable[[JsonObject, JsonObject], list[Cause]]
CheckName: TypeAlias = Callable[[str], str]
# The new state, the old one (None when it is made), and the present as metav1.Time.
Stamp: TypeAlias = Callable[[JsonObject, JsonObject | None, str], None]


def _leave(_obj: JsonObject) -> None:
    return


def _leave_times(_new: JsonObject, _old: JsonObject | None, _now: str) -> None:
    return


def _accept(_obj: JsonObject) -> list[Cause]:
    return []


def _accept_change(_new: JsonObject, _old: JsonObject) -> list[Cause]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The rules of one kind.

    Attributes:
        default: fill in what the client left out, on every write.
        on_create: set what the server decides when an object is made (and admission plugins add).
        stamp: fill in the times that the server sets, on every write but those of the status.
        validate: what is wrong with it.
        validate_update: what is wrong with the change, (new, old).
        validate_status: what is wrong with a change of the status, (new, old).
        create_on_update: whether PUT makes an object that is not there.
        unconditional_update: whether PUT may leave out the resourceVersion.
        check_name: what is wrong with a name; empty for nothing.
    """

    check_name: CheckName
    default: Mutate = _leave
    on_create: Mutate = _leave
    stamp: Stamp = _leave_times
    validate: Check = _accept
    validate_update: Compare = _accept_change
    validate_status: Compare = _accept_change
    create_on_update: bool = False
    unconditional_update: bool = True
