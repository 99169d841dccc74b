"""Which worker looks after which node, without asking anybody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

# http://www.isthe.com/chongo/tech/comp/fnv, 32 bits; Go's hash/fnv New32a.
_OFFSET, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF

# A worker without a shard looks at the Lease of each, one request after the other, so that more of
# them would make it slow to see that one is free.
MAX_SHARDS = 64


def fnv1a_32(text: str) -> int:
    """The 32-bit FNV-1a hash of a text's UTF-8 bytes."""
    value = _OFFSET
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return value


@lru_cache(maxsize=2**16)
def shard_of(node: str, shards: int) -> int:
    """The shard of a node, 0 to shards - 1; upstream spreads its own work by the same formula.

    Source: hash() in pkg/controller/tainteviction/taint_eviction.go.
    """
    return fnv1a_32(node) % shards


@dataclass(frozen=True)
class Shard:
    """One shard of the nodes.

    Attributes:
        index: which one, 0 to count - 1.
        count: into how many the nodes are divided, 1 to MAX_SHARDS.

    Raises:
        ValueError: out of these bounds.
    """

    index: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MAX_SHARDS:
            raise ValueError(f"shards must be from 1 to {MAX_SHARDS}, got {self.count}")
        if not 0 <= self.index < self.count:
            raise ValueError(
                f"the shard must be from 0 to {self.count - 1}, below the number of shards, "
                f"got {self.index}"
            )

    @classmethod
    def all_of(cls, count: int) -> tuple[Shard, ...]:
        """All shards, of which each node is in exactly one; ValueError as above."""
        return tuple(cls(index, count) for index in range(max(count, 1)))

    def __str__(self) -> str:
        """What tells its Lease from those of others: `0-of-1`, or of three shards `2-of-3`.

        With the count, because the first of two shards and the first of three are not the same
        nodes: held by one Lease, those that only one of the two has would be nobody's.
        """
        return f"{self.index}-of-{self.count}"

    def owns(self, node: str) -> bool:
        """Whether the node is in this shard."""
        return self.count == 1 or shard_of(node, self.count) == self.index


class HeldShard:
    """The shard that a worker looks after, which may change while it runs.

    Who may get one shard only looks after that from the start, and so stands by with all timers
    set. Who may get one of several looks after none before it holds the Lease of one, and after
    none again when that Lease is another's: so nothing is ever decided, let alone done, for a
    shard whose Lease is not held. What it knows of the cluster it keeps all the while, so that a
    shard that is taken up is evaluated at once.

    Attributes:
        shard: the shard, or None.
        count: into how many shards the nodes are divided.
    """

    def __init__(self, shards: tuple[Shard, ...]) -> None:
        """Begin.

        Args:
            shards: those that the worker may get, one at least, all of one count.

        Raises:
            ValueError: none, or such as divide the nodes differently.
        """
        counts = {shard.count for shard in shards}
        if len(counts) != 1:
            raise ValueError(f"shards must be of one number, got {', '.join(map(str, shards))}")
        self.is_fixed = len(shards) == 1
        self.shard = shards[0] if self.is_fixed else None
        [self.count] = counts

    def owns(self, node: str) -> bool:
        """Whether the node is in the shard; no node is in none."""
        return self.shard is not None and self.shard.owns(node)

    @property
    def is_first(self) -> bool:
        """Whether it is the shard whose worker does what is to be done once for all of them."""
        return self.shard is not None and self.shard.index == 0

    def take(self, shard: Shard) -> None:
        """Look after this one.

        Raises:
            RuntimeError: there is another one still, and somebody may be acting for it.
        """
        if self.shard not in (None, shard):
            raise RuntimeError(f"shard {shard} is taken up with {self.shard} not given up")
        self.shard = shard

    def give_up(self) -> Shard | None:
        """Look after none; returns the one that was given up. One that is fixed stays."""
        given_up = None if self.is_fixed else self.shard
        if given_up is not None:
            self.shard = None
        return given_up
