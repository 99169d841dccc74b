"""What the command's exit codes mean; `bailiff --help` and docs/operations.md tell the same."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `bailiff`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    # Only with `explain --exit-code`.
    EVICT_AT = 10
    EVICT_NOW = 11
