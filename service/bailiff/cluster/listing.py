"""What a list of objects answers with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from bailiff.cluster.answers import decode_answer
from bailiff.cluster.unreadable import Unreadable, decode_object

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The objects of a list, all as of one resource version."""

    items: tuple[T, ...]
    resource_version: str
    unreadable: tuple[Unreadable, ...] = ()


class ListMeta(msgspec.Struct, rename="camel"):
    """What a list says about itself (metav1.ListMeta)."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list: the objects that can be decoded, and those that cannot."""

    metadata: ListMeta
    items: list[T]
    unreadable: list[Unreadable]


class _RawPage(msgspec.Struct):
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
    items: list[msgspec.Raw] = msgspec.field(default_factory=list)


def decode_page(body: bytes, kind: type[T]) -> Page[T]:
    """One page of a list.

    Raises:
        DecodeError: it is no list, or an item tells neither its name nor its resourceVersion.
    """
    raw = decode_answer(body, _RawPage)
    items: list[T] = []
    unreadable: list[Unreadable] = []
    for item in raw.items:
        found = decode_object(bytes(item), kind)
        if isinstance(found, Unreadable):
            unreadable.append(found)
        else:
            items.append(found)
    return Page(raw.metadata, items, unreadable)


class ListHead(msgspec.Struct):
    """A page of which only the version counts."""

    metadata: ListMeta = msgspec.field(default_factory=ListMeta)
