"""What a caller wants is laid over what the server is set to, option by option."""

import pytest

from bailiff.decisions import OptionOverrides, Options

SERVER = Options(comparison_operators=True, evict_ended_pods=True, explain=False)


@pytest.mark.parametrize(
    ("wanted", "effective"),
    [
        (OptionOverrides(), SERVER),
        (OptionOverrides(explain=True), Options(comparison_operators=True, evict_ended_pods=True)),
        (
            OptionOverrides(comparison_operators=False),
            Options(evict_ended_pods=True, explain=False),
        ),
        (
            OptionOverrides(comparison_operators=False, evict_ended_pods=False, explain=True),
            Options(),
        ),
    ],
)
def test_over(wanted, effective):
    assert wanted.over(SERVER) == effective
