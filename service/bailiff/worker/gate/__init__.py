r"""The gate between an eviction that is due and one that runs: policies, as a worker applies them.

due -> Gate -> rules (bailiff.decisions.policies) -> HELD, by cause
            \-> Lines, by Meters -> RUNNING
"""

from bailiff.worker.gate.gate import Gate
from bailiff.worker.gate.surroundings import Surroundings

__all__ = ["Gate", "Surroundings"]
