"""How many examples random requests and random bytes are tried with."""

from __future__ import annotations

from hypothesis import settings

# The profile of `make fuzz`.
FUZZ = "fuzz"
_SHARE = 4


def fuzzed(examples: int, *, derandomize: bool | None = None) -> settings:
    """Settings of a test that takes long: all these examples in `make fuzz`, else a quarter."""
    if settings.get_current_profile_name() != FUZZ:
        examples //= _SHARE
    if derandomize is None:
        return settings(max_examples=examples)
    return settings(max_examples=examples, derandomize=derandomize)
