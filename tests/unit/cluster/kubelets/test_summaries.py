"""Summaries that would hold up everything else while they are decoded."""

from __future__ import annotations

import pytest

from bailiff.cluster.kubelets import KubeletMalformedError
from bailiff.cluster.kubelets.summaries import decode_summary


def summary_with(values: int) -> bytes:
    """One of more than a MiB, in which there are so many values of which nothing is known."""
    return b'{"node":{"nodeName":"n1"},"more":[%b0]}' % (b"0,      " * values)


def test_one_with_too_many_values_is_not_decoded() -> None:
    with pytest.raises(KubeletMalformedError, match="too many values"):
        decode_summary(summary_with(200_000), "n1")


def test_one_that_is_long_and_has_fewer_is() -> None:
    assert decode_summary(summary_with(199_000), "n1").node.node_name == "n1"
