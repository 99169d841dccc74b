"""The API server's own protobuf can be fetched, to compare ours with."""

from __future__ import annotations

import pytest

from tests.harness.api import Bench, uid_of
from tests.harness.kube.protobuf import node_bytes, pod_bytes, unwrap

pytestmark = pytest.mark.kube_apiserver


async def test_a_pod_and_a_node_as_the_server_marshals_them(bench: Bench) -> None:
    node = await bench.node()
    pod = await bench.pod("a", node=node)
    marshalled = await pod_bytes(bench.cluster, "a", bench.namespace)
    # Field 1 of a Pod is its metadata, and metadata holds these as plain bytes.
    assert marshalled[0] == 1 << 3 | 2
    assert uid_of(pod).encode() in marshalled
    assert node.encode() in await node_bytes(bench.cluster, node)


@pytest.mark.parametrize("envelope", [b"", b"{}", b"k8s\x00", b"k8s\x00\x0a\x02v1"])
def test_what_is_no_envelope_is_refused(envelope: bytes) -> None:
    with pytest.raises(ValueError, match=r"protobuf|no object"):
        unwrap(envelope)
