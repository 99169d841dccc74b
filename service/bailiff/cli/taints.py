"""Taints as `kubectl taint` takes them (k8s.io/kubectl, pkg/cmd/taint/utils.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.cli.errors import InputError, warn
from bailiff.cli.output import listed, printable
from bailiff.decisions.text import describe_taint
from bailiff.decisions.validity import EFFECTS
from bailiff.kinds import NO_EXECUTE, NewTaint
from bailiff.kinds.names import KEY_RULE, VALUE_RULE, is_label_key, is_label_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.kinds import Node, Taint


class TaintChange(NamedTuple):
    """What to do to the taints of a node.

    Attributes:
        added: these come, each in place of one of the same key and effect.
        removed: taints of this key and effect go; of an empty effect, of any.
    """

    added: tuple[NewTaint, ...]
    removed: tuple[NewTaint, ...]


def parse_taints(words: Iterable[str]) -> TaintChange:
    """KEY=VALUE:EFFECT or KEY:EFFECT to add; the same, or KEY, with a - behind it to remove.

    Raises:
        InputError: one is neither, or is added twice.
    """
    words = list(words)
    added = tuple(_added(word) for word in words if not word.endswith("-"))
    removed = tuple(_taint(word, word[:-1]) for word in words if word.endswith("-"))
    if len({(taint.key, taint.effect) for taint in added}) < len(added):
        raise InputError("TAINT: two of the same key and effect are added")
    return TaintChange(added, removed)


def check_removed(change: TaintChange, node: Node) -> None:
    """Refuse to remove what is not there, as kubectl does.

    Raises:
        InputError: the node has no such taint.
    """
    for one in change.removed:
        if not any(_is_same(one, taint) for taint in node.spec.taints):
            there = listed(describe_taint(taint) for taint in node.spec.taints)
            but = f"but {there}" if there else "it has none at all"
            name, wanted = printable(node.metadata.name), describe_taint(one).removesuffix(":")
            raise InputError(f"TAINT: node {name} has no taint {wanted}, {but}")


def _is_same(removed: Taint, taint: Taint) -> bool:
    return removed.key == taint.key and removed.effect in ("", taint.effect)


def warn_of_effects(change: TaintChange) -> None:
    """Say of added taints that they evict nobody, whoever tolerates them."""
    for effect in dict.fromkeys(one.effect for one in change.added if one.effect != NO_EXECUTE):
        warn(f"TAINT: the effect {effect} evicts no pod, only {NO_EXECUTE} does")


def warn_of_standing(change: TaintChange, node: Node) -> None:
    """Say of added taints that the node has them: no change does not mean that nobody goes."""
    name = printable(node.metadata.name)
    there = {(taint.key, taint.value, taint.effect) for taint in node.spec.taints}
    for one in change.added:
        if (one.key, one.value, one.effect) in there:
            warn(
                f"TAINT: node {name} has {describe_taint(one)} already: "
                f"bailiff explain node/{name} tells what it does"
            )


def _added(word: str) -> NewTaint:
    if ":" not in word:
        key = word.partition("=")[0]
        raise InputError(
            f"TAINT: {word!r} has no effect, as in {word}:NoExecute; to remove it: {key}-"
            + ("" if "=" in word else "; if it is a node: one is taken at a time")
        )
    return _taint(word, word)


def _taint(word: str, text: str) -> NewTaint:
    """A taint; `word` is what the user wrote."""
    named, colon, effect = text.partition(":")
    if not colon and "=" in named:
        key = named.partition("=")[0]
        raise InputError(
            f"TAINT: {word!r}: to remove a taint, {key}- or {key}:NoExecute- is enough"
        )
    if colon and effect not in EFFECTS:
        known = ", ".join(EFFECTS)
        raise InputError(f"TAINT: the effect in {word!r} must be one of {known}")
    key, _, value = named.partition("=") if colon else (named, "", "")
    if not is_label_key(key):
        raise InputError(f"TAINT: the key in {word!r} {KEY_RULE}")
    if not is_label_value(value):
        raise InputError(f"TAINT: the value in {word!r} {VALUE_RULE}")
    return NewTaint(key=key, value=value, effect=effect)
