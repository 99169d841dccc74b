"""How many examples random requests and random bytes are tried with."""

from __future__ import annotations

from hypothesis import settings

# The profile of `make fuzz`.
FUZZ = "fuzz"
# Else one of so many.
SHARE = 4


def is_fuzz() -> bool:
    """Whether it is `make fuzz` that runs."""
    return settings.get_current_profile_name() == FUZZ


_MADE: list[settings] = []


def is_fuzzed(test: object) -> bool:
    """Whether a test has settings of `fuzzed`."""
    used = getattr(test, "_hypothesis_internal_use_settings", None)
    return any(one is used for one in _MADE)


def fuzzed(examples: int, *, derandomize: bool | None = None) -> settings:
    """Settings of a test that takes long: all these examples in `make fuzz`, else a quarter."""
    if not is_fuzz():
        examples //= SHARE
    made = settings(max_examples=examples)
    if derandomize is not None:
        made = settings(made, derandomize=derandomize)
    _MADE.append(made)
    return made
