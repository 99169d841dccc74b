"""Whose connections are bounded in all only."""

from __future__ import annotations

import pytest

from bailiff.serving import Edge, EdgeSettings


@pytest.mark.parametrize(
    ("trusted", "address", "is_proxy"),
    [
        ("", "10.0.0.1", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.0/8, 192.0.2.7", "192.0.2.7", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("10.0.0.0/8", "::ffff:10.0.0.1", True),
        ("fd00::/8", "fd00::1%eth0", True),
        ("10.0.0.0/8", "", False),
    ],
)
def test_trusted_proxies_are_known_by_their_addresses(
    trusted: str, address: str, is_proxy: bool
) -> None:
    assert Edge(settings=EdgeSettings(trusted_proxies=trusted)).is_proxy(address) == is_proxy
