"""Which shard a node is in: the same hash as Go's hash/fnv, and every node in exactly one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.worker import MAX_SHARDS, Shard
from bailiff.worker.lead.sharding import HeldShard, fnv1a_32, shard_of

NAMES = st.text(max_size=253)
NODES = ("node-a", "node-b", "node-c", "node-d")


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


def test_each_share_of_each_count_has_a_name_of_its_own():
    names = [str(shard) for count in range(1, MAX_SHARDS + 1) for shard in Shard.all_of(count)]
    assert len(set(names)) == len(names)
    assert names[:3] == ["0-of-1", "0-of-2", "1-of-2"]


def test_shards_are_about_equal():
    counts = [0] * 4
    for number in range(5000):
        counts[shard_of(f"ip-10-0-{number // 256}-{number % 256}.ec2.internal", 4)] += 1
    assert min(counts) > 1100


@pytest.mark.parametrize(
    ("index", "count"), [(0, 0), (0, -1), (1, 1), (-1, 2), (2, 2), (0, MAX_SHARDS + 1)]
)
def test_shards_that_do_not_exist_are_refused(index, count):
    with pytest.raises(ValueError, match="must be from"):
        Shard(index, count)


@pytest.mark.parametrize("count", [0, -1, MAX_SHARDS + 1])
def test_there_are_all_shards_of_no_such_number(count):
    with pytest.raises(ValueError, match="must be from 1 to"):
        Shard.all_of(count)


def test_whoever_may_get_one_share_only_has_it_from_the_start_for_good():
    mine = Shard(1, 2)
    share = HeldShard((mine,))
    assert (share.shard, share.count) == (mine, 2)
    share.take(mine)
    assert share.give_up() is None
    assert [share.owns(node) for node in NODES] == [mine.owns(node) for node in NODES]
    assert not share.is_first


def test_whoever_may_get_any_has_none_or_one():
    share = HeldShard(Shard.all_of(2))
    assert (share.shard, share.count, share.is_first) == (None, 2, False)
    assert not any(map(share.owns, NODES))
    share.take(Shard(0, 2))
    assert share.is_first
    assert [share.owns(node) for node in NODES] == [Shard(0, 2).owns(node) for node in NODES]
    with pytest.raises(RuntimeError, match="1-of-2 is taken up with 0-of-2 not given up"):
        share.take(Shard(1, 2))
    assert share.give_up() == Shard(0, 2)
    assert share.give_up() is None
    assert not any(map(share.owns, NODES))
    share.take(Shard(1, 2))
    assert not share.is_first


@pytest.mark.parametrize("shards", [(), (Shard(0, 2), Shard(0, 3))])
def test_shares_of_two_numbers_are_no_choice(shards):
    with pytest.raises(ValueError, match="of one number"):
        HeldShard(shards)
