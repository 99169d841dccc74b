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


def fuzzed(examples: int, *, derandomize: bool | None = None) -> settings:
    """Settings of a test that takes long: all these examples in `make fuzz`, else a quarter."""
    if not is_fuzz():
        examples //= SHARE
    if derandomize is None:
        return settings(max_examples=examples)
    return settings(max_examples=examples, derandomize=derandomize)
