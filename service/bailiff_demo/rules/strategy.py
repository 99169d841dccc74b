"""The rules of one kind: which functions look at its objects, and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bailiff.kinds.names import SUBDOMAIN_RULE, is_dns_subdomain
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject

Mutate: TypeAlias = Callable[[JsonObject], None]
Check: TypeAlias = Callable[[JsonObject], list[Cause]]
Compare: TypeAlias = Callable[[JsonObject, JsonObject], list[Cause]]
# The new state, the old one (None when it is made), and the present as metav1.Time.
Stamp: TypeAlias = Callable[[JsonObject, JsonObject | None, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The rules of one kind.

    Attributes:
        name_rule: which names are allowed, and how that is said.
        default: fill in what the client left out, on every write.
        on_create: set what the server decides when an object is made.
        on_write: what admission plugins add, on every write but those of a subresource.
        stamp: fill in the times that the server sets, on every write but those of the status.
        validate: what is wrong with it.
        validate_update: what is wrong with the change, (new, old).
        validate_status: what is wrong with a change of the status, (new, old).
        create_on_update: whether PUT makes an object that is not there.
        unconditional_update: whether PUT may leave out the resourceVersion.
    """

    name_rule: tuple[Callable[[str], bool], str] = (is_dns_subdomain, SUBDOMAIN_RULE)
    default: Mutate = lambda _obj: None
    on_create: Mutate = lambda _obj: None
    on_write: Mutate = lambda _obj: None
    stamp: Stamp = lambda _new, _old, _now: None
    validate: Check = lambda _obj: []
    validate_update: Compare = lambda _new, _old: []
    validate_status: Compare = lambda _new, _old: []
    create_on_update: bool = False
    unconditional_update: bool = True
