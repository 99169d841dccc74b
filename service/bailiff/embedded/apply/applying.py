"""One apply: merge, prune, look for conflicts, and say who owns what then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.embedded.apply.fields import Path, fields_of
from bailiff.embedded.apply.merging import merge, remove
from bailiff.embedded.apply.owners import Holding, Owner, Owners, changed_paths, without

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

_METADATA = ("f:metadata",)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that an apply would change and another owns.

    Attributes:
        owner: who.
        path: where.
    """

    owner: Owner
    path: Path


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply comes to.

    Attributes:
        object: the new state.
        owners: of it.
        conflicts: not to be written unless forced.
    """

    object: JsonObject
    owners: Owners
    conflicts: tuple[Conflict, ...]


def apply_config(
    live: JsonObject, config: JsonObject, owners: Owners, applier: Owner, now: str
) -> Applied:
    """Put a configuration into an object.

    What the applier applied before and does not any more goes, unless another owns it or something
    in it (merge/update.go: Apply, prune).

    Args:
        live: the object as it is; empty for none.
        config: all that the applier wants; without nulls, every item of a keyed list with a key.
        owners: of the live object.
        applier: who applies.
        now: metav1.Time.
    """
    wanted = frozenset(fields_of(config))
    last = owners.get(applier)
    others = {owner: holding for owner, holding in owners.items() if owner != applier}
    merged = merge(live, config)
    if last is not None:
        remove(merged, _outdated(last.fields, wanted, others))
    before, after = fields_of(live), fields_of(merged)
    changed = changed_paths(before, after)
    conflicts = tuple(
        Conflict(owner, path)
        for owner, holding in others.items()
        for path in sorted(holding.fields & changed)
    )
    left = without(others, changed | (before.keys() - after.keys()))
    same = last is not None and last.fields == wanted and before == after
    time = last.time if last is not None and same else now
    held = {applier: Holding(wanted, time)} if wanted else {}
    return Applied(merged, {**left, **held}, conflicts)


def _outdated(last: frozenset[Path], wanted: frozenset[Path], others: Owners) -> list[Path]:
    """Places that only the last apply put there; of nested ones just the outermost."""
    kept = {_METADATA, *_with_parents(wanted)}
    for holding in others.values():
        kept |= _with_parents(holding.fields)
    gone = _with_parents(last) - kept
    return [path for path in gone if path[:-1] not in gone]


def _with_parents(paths: frozenset[Path]) -> set[Path]:
    return {path[:end] for path in paths for end in range(1, len(path) + 1)}
