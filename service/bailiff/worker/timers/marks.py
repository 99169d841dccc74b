"""Which nodes and pods are to be looked at anew."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.worker.lead.sharding import HeldShard
    from bailiff.worker.mirror.mirror import PodKey


class Marks:
    """Which nodes and pods are to be looked at anew; whoever knows of a change sets them."""

    def __init__(self, held: HeldShard) -> None:
        """Start without any; only nodes of our shard, and pods there, are ours to look after."""
        self.owns = held.owns
        # In a plain dict the way to the first mark grows with those that have been taken.
        self.nodes: OrderedDict[str, None] = OrderedDict()
        self.pods: OrderedDict[PodKey, None] = OrderedDict()
        self.added = asyncio.Event()

    def look_at_node(self, name: str) -> None:
        """Evaluate a node and its pods soon."""
        if self.owns(name):
            self.nodes[name] = None
            self.added.set()

    def look_at_pods(self, keys: Iterable[PodKey]) -> None:
        """Evaluate pods soon."""
        self.pods.update(dict.fromkeys(keys))
        self.added.set()

    def forget(self) -> None:
        """Look at nothing of what was to be looked at."""
        self.nodes.clear()
        self.pods.clear()

    def __len__(self) -> int:
        """How many are not worked off."""
        return len(self.nodes) + len(self.pods)
