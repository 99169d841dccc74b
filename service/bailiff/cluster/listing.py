"""What a list of objects answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The objects of a list, all as of one resource version."""

    items: tuple[T, ...]
    resource_version: str


class ListMeta(msgspec.Struct, rename="camel"):
    """What a list says about itself (metav1.ListMeta)."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class Page(msgspec.Struct, Generic[T]):
    """One page of a list."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[T] = msgspec.field(default_factory=list)


class ListHead(msgspec.Struct):
    """A page of which only the version counts."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
