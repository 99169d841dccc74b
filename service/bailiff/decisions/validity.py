"""What the API server takes in taints and tolerations, for those that it has not seen.

Objects that an API server handed out are read as they are: it may be newer than we are. But a taint
that is yet to come, with a misspelt effect, would be said to do nothing, and then be refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.decisions.cost import FactsError
from bailiff.kinds import NO_EXECUTE, DeviceTaint, DeviceToleration, Taint, Toleration
from bailiff.kinds.names import KEY_RULE, VALUE_RULE, is_label_key, is_label_value

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of nodes (validateTaintEffect in pkg/apis/core/validation/validation.go), and of devices
# (validDeviceTaintEffects in pkg/apis/resource/validation/validation.go).
EFFECTS = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
DEVICE_EFFECTS = ("None", "NoSchedule", NO_EXECUTE)
_OPERATORS = ("Equal", "Exists")
# In a toleration an empty operator counts as Equal, and an empty effect matches any.
_WORDS: dict[type[Taint | Toleration], dict[str, tuple[str, ...]]] = {
    Taint: {"effect": EFFECTS},
    DeviceTaint: {"effect": DEVICE_EFFECTS},
    Toleration: {"operator": ("", *_OPERATORS, "Lt", "Gt"), "effect": ("", *EFFECTS)},
    DeviceToleration: {"operator": ("", *_OPERATORS), "effect": ("", *DEVICE_EFFECTS)},
}


def refused_words(value: Taint | Toleration) -> Iterator[tuple[str, str]]:
    """The fields whose value the API server would refuse, each with what it takes."""
    for field, allowed in _WORDS[type(value)].items():
        word = getattr(value, field)
        if word not in allowed:
            yield field, f"must be one of {_listed(allowed)}, is {word!r}"
    # ValidateTolerations in the same file; devices' may have seconds with any effect.
    has_seconds = type(value) is Toleration and value.toleration_seconds is not None
    if has_seconds and value.effect in ("", *EFFECTS) and value.effect != NO_EXECUTE:
        yield "effect", f"must be {NO_EXECUTE} where tolerationSeconds is set"


def check_key(key: str, path: str) -> None:
    """Refuse what is no key of a taint; raises FactsError with the path of the taint before it."""
    if not is_label_key(key):
        raise FactsError(f"{path}.key", KEY_RULE if key else f"required, {KEY_RULE}")


def check_effect(effect: str, path: str, allowed: tuple[str, ...] = EFFECTS) -> None:
    """Refuse an effect that the API server would; raises FactsError as `check_key`."""
    if effect not in allowed:
        told = f"is {effect[:63]!r}" if effect else "is absent"
        raise FactsError(f"{path}.effect", f"must be one of {_listed(allowed)}, {told}")


def check_taint(taint: Taint, path: str, effects: tuple[str, ...] = EFFECTS) -> None:
    """Refuse a taint that the API server would.

    Args:
        taint: one that is to come.
        path: where it stands, as `$.addTaints[0]`.
        effects: that it may have.

    Raises:
        FactsError: as said, with the path of the field.
    """
    check_key(taint.key, path)
    if not is_label_value(taint.value):
        raise FactsError(f"{path}.value", VALUE_RULE)
    check_effect(taint.effect, path, effects)


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(word for word in words if word)
