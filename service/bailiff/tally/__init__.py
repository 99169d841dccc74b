"""How many have been evicted of late, counted together by all replicas of webhook and worker.

Between those that evict or are asked, and the client: the book of budgets over time
(`decisions.policies`) in a ConfigMap, by compare-and-swap.
"""

from bailiff.tally.tally import Tally, TallyError

__all__ = ["Tally", "TallyError"]
