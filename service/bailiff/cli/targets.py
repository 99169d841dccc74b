"""Which object is meant, as kubectl takes it: TYPE/NAME; and which instant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.cli.errors import InputError
from bailiff.decisions.instants import in_utc
from bailiff.kinds import parse_time
from bailiff.kinds.names import SUBDOMAIN_RULE, is_dns_subdomain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

POD, NODE = "pod", "node"
# With kubectl's plurals and short names.
_TYPES = {"pod": POD, "pods": POD, "po": POD, "node": NODE, "nodes": NODE, "no": NODE}


class Target(NamedTuple):
    """One object.

    Attributes:
        type: POD or NODE.
        name: its name.
    """

    type: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """From TYPE/NAME.

        Raises:
            InputError: it is none, or names another type.
        """
        word, slash, name = text.partition("/")
        if not slash and is_dns_subdomain(text):
            raise InputError(f"TYPE/NAME: is pod/{text} meant, or node/{text}?")
        if not slash:
            raise InputError(f"TYPE/NAME: expected it as pod/web or node/node-a, got {text!r}")
        if word.lower() not in _TYPES:
            raise InputError(f"TYPE/NAME: the type must be pod or node, got {word!r}")
        if not is_dns_subdomain(name):
            raise InputError(f"TYPE/NAME: the name {SUBDOMAIN_RULE}, got {name!r}")
        return cls(_TYPES[word.lower()], name)


def one_word(words: Sequence[str]) -> str:
    """The object's one word, of those that were typed.

    Raises:
        InputError: there are more; says how to write what kubectl takes with a space.
    """
    if len(words) == 1:
        return words[0]
    kind = _TYPES.get(words[0].lower())
    if kind and len(words) == 2 and is_dns_subdomain(words[1]):
        raise InputError(f"TYPE/NAME: write {kind}/{words[1]}")
    raise InputError(f"TYPE/NAME: expected one, as pod/web, got {' '.join(words)!r}")


def parse_node(text: str) -> str:
    """A node's name, from NAME or node/NAME.

    Raises:
        InputError: it names no node.
    """
    if "/" not in text:
        return text
    word, _, name = text.partition("/")
    if _TYPES.get(word.lower()) != NODE:
        raise InputError(f"NODE: expected a node, as node-a or node/node-a, got {text!r}")
    return name


def parse_instant(text: str | None, option: str) -> datetime | None:
    """An RFC 3339 instant, as REST takes it; None for none.

    Raises:
        InputError: it is none, or has no offset.
    """
    if text is None:
        return None
    try:
        return in_utc(parse_time(text))
    except ValueError as error:
        raise InputError(
            f"{option}: expected RFC 3339 with an offset, as 2026-01-31T12:00:00Z, "
            f"got {text[:50]!r}"
        ) from error
