"""Which worker looks after which node, without asking anybody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# http://www.isthe.com/chongo/tech/comp/fnv, 32 bits; Go's hash/fnv New32a.
_OFFSET, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF

MAX_SHARDS = 1000

_ORDINAL = re.compile(r"-([0-9]{1,9})$")


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
    """One share of the nodes.

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

    @property
    def lease_suffix(self) -> str:
        """What tells the Lease of this share from others: `0`, or of three shares `0-of-3`.

        With the count, because the first of two shares and the first of three are not the same
        nodes: held by one Lease, those that only one of the two has would be nobody's.
        """
        return str(self.index) if self.count == 1 else f"{self.index}-of-{self.count}"

    @classmethod
    def of_host(cls, hostname: str, count: int) -> Shard:
        """The shard of a pod of a StatefulSet, by the ordinal at the end of its name.

        Pods beyond the number of shards stand by for them in turn.

        Raises:
            ValueError: the hostname ends in no ordinal, or the count is out of bounds.
        """
        if count == 1:
            return cls()
        ordinal = _ORDINAL.search(hostname.partition(".")[0])
        if ordinal is None:
            raise ValueError(
                f"hostname {hostname!r} ends in no ordinal (as bailiff-worker-2 does), so the "
                "shard must be given"
            )
        return cls(int(ordinal[1]) % max(count, 1), count)

    def owns(self, node: str) -> bool:
        """Whether the node is in this share."""
        return self.count == 1 or shard_of(node, self.count) == self.index
