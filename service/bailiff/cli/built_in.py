"""`bailiff taints`: the taints that Kubernetes itself puts on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.errors import InputError, told
from bailiff.cli.output import LINES, Lines, dumped, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions.node_taints import BuiltInTaint

_HEADS = ("KEY", "EFFECT", "CONDITION", "UNTIL")
_WIDE_HEADS = ("KEY", "EFFECT", "CONDITION", "SET BY", "TAKEN AWAY BY", "SINCE", "UNTIL", "NOW")
_KEY = typer.Argument(
    help="A key, as node.kubernetes.io/not-ready, to be told in full. Default: all, in a table.",
    metavar="KEY",
    show_default=False,
)


def taints(
    key: Annotated[str | None, _KEY] = None, output: Annotated[Lines | None, LINES] = None
) -> None:
    """Tell what a taint of Kubernetes' own means: who sets it, when, and what takes it away."""
    from bailiff.decisions.node_taints import BUILT_IN_TAINTS  # noqa: PLC0415 - loads the core

    with told():
        chosen = [one for one in BUILT_IN_TAINTS if key in (None, one.key)]
        if not chosen:
            raise InputError(f"{key} is no built-in taint: bailiff taints lists them")
    typer.echo(_shown(chosen, output, in_full=key is not None))


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
