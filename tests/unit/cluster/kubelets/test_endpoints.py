"""Where a node's kubelet is asked, and where never, whatever the node says."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster.kubelets import (
    KubeletAddressError,
    KubeletSettings,
)
from bailiff.cluster.kubelets.endpoints import check_allowed, endpoint_of
from bailiff.kinds import DaemonEndpoint, Node, NodeAddress, NodeDaemonEndpoints, NodeStatus

USUAL = KubeletSettings()
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


def node_of(*addresses: tuple[str, str], port: int = 10250) -> Node:
    endpoints = NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port))
    given_addresses = tuple(NodeAddress(type=kind, address=text) for kind, text in addresses)
    return Node(status=NodeStatus(addresses=given_addresses, daemon_endpoints=endpoints))


@pytest.mark.parametrize(
    ("addresses", "host"),
    [
        ([("InternalIP", "10.0.0.1")], "10.0.0.1"),
        ([("Hostname", "n1"), ("InternalIP", "10.0.0.1")], "10.0.0.1"),
        ([("Hostname", "n1"), ("ExternalIP", "8.8.8.8")], "8.8.8.8"),
        ([("InternalIP", "10.0.0.1"), ("InternalIP", "fd00::1")], "10.0.0.1"),
        ([("Hostname", "N1.Example.ORG")], "n1.example.org"),
        ([("InternalIP", "FD00:0:0::1")], "fd00::1"),
    ],
)
def test_the_first_address_of_the_first_type_is_asked(
    addresses: list[tuple[str, str]], host: str
) -> None:
    assert endpoint_of(node_of(*addresses), USUAL).host == host


def test_the_types_and_their_order_are_a_setting() -> None:
    node = node_of(("InternalIP", "10.0.0.1"), ("InternalDNS", "n1"))
    assert endpoint_of(node, KubeletSettings(address_types=("InternalDNS",))).host == "n1"


@pytest.mark.parametrize(
    ("port", "asked"), [(10250, 10250), (1, 1), (65535, 65535), (0, 10255), (-1, 10255)]
)
def test_the_port_is_the_status_own_or_the_usual_one(port: int, asked: int) -> None:
    node = node_of(("InternalIP", "10.0.0.1"), port=port)
    assert endpoint_of(node, KubeletSettings(default_port=10255)).port == asked


def test_as_in_a_url_an_address_of_version_6_has_brackets() -> None:
    node = node_of(("InternalIP", "fd00::1"))
    assert str(endpoint_of(node, USUAL)) == "[fd00::1]:10250"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("", "neither an IP address nor a DNS name"),
        ("10.0.0.1:80", "neither"),
        ("10.0.0.1/path", "neither"),
        ("user@host", "neither"),
        ("a b", "neither"),
        ("a\r\nHost: b", "neither"),
        ("-a", "neither"),
        ("ä.example", "neither"),
        ("a" * 254, "neither"),
        ("fe80::1%lo", "neither"),
        ("127.0.0.1", "no node is reached"),
        ("127.8.9.1", "no node is reached"),
        ("169.254.169.254", "no node is reached"),
        ("0.0.0.0", "no node is reached"),
        ("224.0.0.1", "no node is reached"),
        ("255.255.255.255", "no node is reached"),
        ("::1", "no node is reached"),
        ("::", "no node is reached"),
        ("fe80::1", "no node is reached"),
        ("ff02::1", "no node is reached"),
        ("::ffff:127.0.0.1", "no node is reached"),
        ("::ffff:169.254.169.254", "no node is reached"),
    ],
)
def test_what_is_no_address_of_a_node_is_refused(address: str, why: str) -> None:
    with pytest.raises(KubeletAddressError, match=why):
        endpoint_of(node_of(("InternalIP", address)), USUAL)


def test_a_port_that_is_none_is_refused() -> None:
    with pytest.raises(KubeletAddressError, match=r"kubeletEndpoint.Port: 65536 is no port"):
        endpoint_of(node_of(("InternalIP", "10.0.0.1"), port=65536), USUAL)


@pytest.mark.parametrize("addresses", [[], [("Other", "10.0.0.1")], [("InternalDNS", "a")]])
def test_no_address_of_the_types_is_said(addresses: list[tuple[str, str]]) -> None:
    with pytest.raises(KubeletAddressError, match="none of the types InternalIP, ExternalIP"):
        endpoint_of(node_of(*addresses), USUAL)


def test_where_networks_are_named_those_alone_are_asked() -> None:
    named = KubeletSettings(networks=(*LOOPBACK, ipaddress.ip_network("10.1.0.0/16")))
    for inside in ("127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3"):
        endpoint_of(node_of(("InternalIP", inside)), named)
    for outside in ("10.2.0.1", "fd00::1", "169.254.169.254"):
        with pytest.raises(KubeletAddressError, match="none of the networks"):
            endpoint_of(node_of(("InternalIP", outside)), named)


@given(st.text(max_size=300), st.integers(-(2**31), 2**31 - 1))
def test_whatever_a_node_says_it_is_an_endpoint_or_an_error(text: str, port: int) -> None:
    try:
        found = endpoint_of(node_of(("InternalIP", text), port=port), USUAL)
    except KubeletAddressError:
        return
    assert 1 <= found.port <= 65535
    assert found.host.isascii()
    assert not set(found.host) & set(" /@?#%\\\r\n\t")


@given(st.ip_addresses())
def test_an_address_is_refused_as_gos_is_no_global_unicast(address: Any) -> None:
    real = (address.version == 6 and address.ipv4_mapped) or address
    allowed = not (
        real.is_loopback
        or real.is_link_local
        or real.is_multicast
        or int(real) == 0
        or str(real) == "255.255.255.255"
    )
    try:
        check_allowed(address, ())
    except KubeletAddressError:
        assert not allowed
    else:
        assert allowed
