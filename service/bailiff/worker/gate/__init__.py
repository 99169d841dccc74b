r"""The gate between an eviction that is due and one that runs: policies, as a worker applies them.

due -> Gate -> RuleHolds, while one of bailiff.decisions.policies holds it back, by RuleFacts
            \-> Lines, by Meters -> RUNNING
"""

from bailiff.worker.gate.gate import Gate

__all__ = ["Gate"]
