"""Who owns which fields: metadata.managedFields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiff.embedded.apply.fields import Fields, Path, decode_fields, encode_fields

if TYPE_CHECKING:
    from bailiff.embedded.objects import JsonObject

APPLY, UPDATE = "Apply", "Update"
# More owners by other verbs than apply are put together, oldest first (capmanagers.go).
_MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"


@dataclass(frozen=True, slots=True)
class Owner:
    """One who writes, in one way.

    Attributes:
        manager: name, from `fieldManager` or the User-Agent.
        operation: `Apply` or `Update`.
        api_version: as which it wrote.
        subresource: through which it wrote; empty for the object itself.
    """

    manager: str
    operation: str
    api_version: str
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """What an owner has.

    Attributes:
        fields: where.
        time: of its last change, as metav1.Time.
    """

    fields: frozenset[Path]
    time: str


Owners: TypeAlias = dict[Owner, Holding]


def decode_owners(entries: Any) -> Owners:  # noqa: ANN401 - any JSON value
    """From metadata.managedFields; what is not understood owns nothing."""
    owners: Owners = {}
    for entry in entries if isinstance(entries, list) else ():
        try:
            owner = Owner(
                entry.get("manager", ""),
                entry["operation"],
                entry["apiVersion"],
                entry.get("subresource", ""),
            )
            owners[owner] = Holding(decode_fields(entry["fieldsV1"]), entry.get("time", ""))
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}
    return owners


def encode_owners(owners: Owners) -> list[JsonObject]:
    """As metadata.managedFields; appliers first, then by time."""
    ordered = sorted(owners.items(), key=lambda item: _order(*item))
    return [_entry(owner, holding) for owner, holding in ordered]


def _order(owner: Owner, holding: Holding) -> tuple[str, str, str, str]:
    return owner.operation, holding.time, owner.manager, owner.subresource


def _entry(owner: Owner, holding: Holding) -> JsonObject:
    entry: JsonObject = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owner.api_version,
        "time": holding.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": encode_fields(holding.fields),
        "subresource": owner.subresource,
    }
    return {name: value for name, value in entry.items() if value != ""}


def changed_paths(before: Fields, after: Fields) -> frozenset[Path]:
    """What is new or has another value."""
    return frozenset(p for p, v in after.items() if p not in before or before[p] != v)


def without(owners: Owners, paths: frozenset[Path]) -> Owners:
    """The owners after they lost some paths; who has nothing left is gone."""
    left = {
        owner: holding
        if holding.fields.isdisjoint(paths)
        else Holding(holding.fields - paths, holding.time)
        for owner, holding in owners.items()
    }
    return {owner: holding for owner, holding in left.items() if holding.fields}


def after_write(
    owners: Owners, before: Fields, after: Fields, writer: Owner | None, now: str
) -> Owners:
    """Who owns what after a write by another verb than apply: writers own what they changed.

    Args:
        owners: who owned what.
        before: the object as it was; empty for none.
        after: as it is.
        writer: None for nobody in particular.
        now: metav1.Time.
    """
    changed = changed_paths(before, after)
    left = without(owners, changed | (before.keys() - after.keys()))
    if writer is None or not changed:
        return left
    kept = left[writer].fields if writer in left else frozenset()
    return _capped({**left, writer: Holding(kept | changed, now)})


def _capped(owners: Owners) -> Owners:
    updaters = [owner for owner in owners if owner.operation == UPDATE]
    if len(updaters) <= _MAX_UPDATERS:
        return owners
    updaters.sort(key=lambda owner: (owners[owner].time, owner.manager))
    oldest = updaters[: len(updaters) - _MAX_UPDATERS + 1]
    together = frozenset(path for owner in oldest for path in owners[owner].fields)
    left = {owner: holding for owner, holding in owners.items() if owner not in oldest}
    version = oldest[-1].api_version
    return {**left, Owner(_ANCIENT, UPDATE, version): Holding(together, owners[oldest[-1]].time)}
