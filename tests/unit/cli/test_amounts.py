"""How amounts of bytes are told to people."""

import pytest

from bailiff.cli.amounts import binary
from bailiff.kinds.quantity import parse_quantity


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0, "0"),
        (1000, "1000"),
        (1023, "1023"),
        (1024, "1Ki"),
        (1025, "2Ki"),
        (2**30, "1Gi"),
        (1796 * 2**20, "1796Mi"),
        (693737984, "662Mi"),
        (2**30 - 1, "1024Mi"),
        (100 * 2**30 + 1, "101Gi"),
        (544420672, "520Mi"),
        (-693737984, "-662Mi"),
        (2**63 - 1, "8192Pi"),
        (2**70 + 1, "1025Ei"),
    ],
)
def test_it_has_a_unit_and_few_digits(number: int, told: str) -> None:
    assert binary(number) == told


@pytest.mark.parametrize("number", [3**power for power in range(7, 39)])
def test_it_is_rounded_up_by_little(number: int) -> None:
    told = parse_quantity(binary(number)).value
    assert number <= told
    assert told - number <= max(1024, number // 100)
