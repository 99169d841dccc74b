"""Questions about many kinds of nodes are few bytes, and take long all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from bailiff.v1 import kubernetes_pb2
from tests.harness.pools import where_asked
from tests.unit.grpc_face.test_node_streams import changes, node, nodes, pods, told

if TYPE_CHECKING:
    from tests.harness.faces.grpc_face import Face


@pytest.mark.parametrize(("kinds", "where"), [(10, "loop"), (300, "thread")])
async def test_nodes_that_take_long_to_look_at_keep_nobody_waiting(
    face: Face, monkeypatch: pytest.MonkeyPatch, kinds: int, where: str
) -> None:
    seen = where_asked(monkeypatch)
    later = [
        kubernetes_pb2.Taint(key=f"k{i}", effect="NoExecute", time_added=Timestamp(seconds=2**33))
        for i in range(100)
    ]
    some = [node(f"n{i}") for i in range(kinds)]
    for one in some:
        one.spec.taints.extend(later)
    asked = [nodes(*some[:50]), *[changes(put=[one]) for one in some[50:]], pods()]
    assert (await told(face, *asked))[-1].judged.answers
    assert seen == [where]
