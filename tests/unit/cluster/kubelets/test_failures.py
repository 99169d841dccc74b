"""What a kubelet says where it refuses, as far as it is told on."""

from __future__ import annotations

import pytest

from bailiff.cluster.kubelets import KubeletForbiddenError
from bailiff.cluster.kubelets.answers import Answer
from bailiff.cluster.kubelets.failures import check_status


@pytest.mark.parametrize("said", [b"a" * 4000, b'{"kind":"Status","message":"%s"}' % (b"a" * 3000)])
def test_a_refusal_is_quoted_in_short(said: bytes) -> None:
    """It goes into logs and Events, and a kubelet may be hostile."""
    answer = Answer(10_000)
    answer.feed(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said))
    with pytest.raises(KubeletForbiddenError) as caught:
        check_status(answer)
    assert str(caught.value) == f"answered 403: '{'a' * 300}'"
