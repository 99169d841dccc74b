"""Which shard a node is in: the same hash as Go's hash/fnv, and every node in exactly one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.worker import MAX_SHARDS, Shard
from bailiff.worker.lead.sharding import fnv1a_32, shard_of

NAMES = st.text(max_size=253)


# Computed with Go: fnv.New32a, io.WriteString, Sum32().
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0x811C9DC5),
        ("a", 0xE40C292C),
        ("ab", 0x4D2505CA),
        ("abc", 0x1A47E90B),
        ("foobar", 0xBF9CF968),
    ],
)
def test_published_vectors(text, value):
    assert fnv1a_32(text) == value


# Computed with Go: fnv.New32a, io.WriteString, Sum32() % 8, as taint_eviction.go has it.
@pytest.mark.parametrize(
    ("node", "shard"),
    [
        ("node-a", 3),
        ("node-b", 6),
        ("ip-10-0-0-1.ec2.internal", 3),
        ("gke-pool-1-abcd", 4),
        ("nöde", 3),
        ("worker-42", 4),
    ],
)
def test_upstreams_own_spread(node, shard):
    assert shard_of(node, 8) == shard


@given(NAMES, st.integers(1, MAX_SHARDS))
def test_every_node_is_in_exactly_one_shard(node, count):
    index = shard_of(node, count)
    assert Shard(index, count).owns(node)
    assert not any(Shard(other, count).owns(node) for other in {0, count - 1} - {index})


def test_shares_of_other_counts_have_other_leases():
    # The only share of one is what it was before there were counts.
    names = [Shard(index, count).lease_suffix for count in (1, 2, 3) for index in range(count)]
    assert names == ["0", "0-of-2", "1-of-2", "0-of-3", "1-of-3", "2-of-3"]


def test_shards_are_about_equal():
    counts = [0] * 4
    for number in range(5000):
        counts[shard_of(f"ip-10-0-{number // 256}-{number % 256}.ec2.internal", 4)] += 1
    assert min(counts) > 1100


@pytest.mark.parametrize(
    ("hostname", "count", "index"),
    [
        ("bailiff-worker-0", 3, 0),
        ("bailiff-worker-2", 3, 2),
        ("bailiff-worker-3", 3, 0),
        ("bailiff-worker-10", 3, 1),
        ("bailiff-worker-2.bailiff.svc.cluster.local", 3, 2),
        ("laptop", 1, 0),
    ],
)
def test_the_shard_of_a_pod_of_a_statefulset(hostname, count, index):
    assert Shard.of_host(hostname, count) == Shard(index, count)


@pytest.mark.parametrize("hostname", ["laptop", "", "worker-", "worker2", "worker-2a", "w-\u0662"])
def test_a_hostname_without_an_ordinal_says_nothing(hostname):
    with pytest.raises(ValueError, match="ends in no ordinal"):
        Shard.of_host(hostname, 2)


@pytest.mark.parametrize(
    ("index", "count"), [(0, 0), (0, -1), (1, 1), (-1, 2), (2, 2), (0, MAX_SHARDS + 1)]
)
def test_shards_that_do_not_exist_are_refused(index, count):
    with pytest.raises(ValueError, match="must be from"):
        Shard(index, count)
