"""`bailiff taints`: the taints that Kubernetes itself puts on nodes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.errors import InputError, told
from bailiff.cli.output import LINES_OF_TAINTS, Lines, dumped, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bailiff.decisions.node_taints import BuiltInTaint

_HEADS = ("KEY", "EFFECT", "CONDITION", "UNTIL")
_WIDE_HEADS = ("KEY", "EFFECT", "CONDITION", "SET BY", "TAKEN AWAY BY", "SINCE", "UNTIL", "NOW")
_TAINT = typer.Argument(
    help="A key, as node.kubernetes.io/not-ready, or a taint as kubectl prints it, to be told in "
    "full. Default: all, in a table.",
    metavar="KEY[=VALUE][:EFFECT]",
    show_default=False,
)


def taints(
    taint: Annotated[str | None, _TAINT] = None,
    output: Annotated[Lines | None, LINES_OF_TAINTS] = None,
) -> None:
    """Tell what a taint of Kubernetes' own means: who sets it, when, and what takes it away."""
    from bailiff.decisions.node_taints import BUILT_IN_TAINTS  # noqa: PLC0415 - loads the core

    with told():
        chosen = BUILT_IN_TAINTS if taint is None else _find(taint, BUILT_IN_TAINTS)
    typer.echo(_shown(chosen, output, in_full=taint is not None))


def _find(word: str, known: Sequence[BuiltInTaint]) -> Sequence[BuiltInTaint]:
    """Those of a key and, where one is named, an effect; the value plays no part."""
    named, _, effect = word.partition(":")
    key = named.partition("=")[0]
    of_key = [one for one in known if one.key == key]
    if not of_key:
        raise InputError(f"{key} is no built-in taint{_meant(key, known)}")
    found = [one for one in of_key if effect in ("", one.effect)]
    if not found:
        effects = " or ".join(one.effect for one in of_key)
        raise InputError(f"{key} is built in with the effect {effects}, not with {effect}")
    return found


def _meant(key: str, known: Iterable[BuiltInTaint]) -> str:
    """Which key may have been meant, whatever stands before its /."""
    by_name = {_name(one.key): one.key for one in known}
    near = difflib.get_close_matches(_name(key), by_name, n=1)
    return f"; is {by_name[near[0]]} meant?" if near else ": bailiff taints lists them"


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _shown(chosen: Sequence[BuiltInTaint], output: Lines | None, *, in_full: bool) -> str:
    if output in (Lines.JSON, Lines.YAML):
        import msgspec  # noqa: PLC0415 - as above

        return dumped(msgspec.to_builtins(chosen), output)
    if output is None and in_full:
        return "\n\n".join("\n  ".join((one.key, *one.told())) for one in chosen)
    if output is Lines.WIDE:
        return table(_WIDE_HEADS, [_wide_row(one) for one in chosen])
    return table(_HEADS, [(one.key, one.effect, one.condition, one.until) for one in chosen])


def _wide_row(one: BuiltInTaint) -> tuple[str, ...]:
    until = (one.since, one.until, one.replaced_by)
    return (one.key, one.effect, one.condition, one.set_by, one.removed_by, *until)
