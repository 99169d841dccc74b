r"""The gate between an eviction that is due and one that runs: policies, as a worker applies them.

due -> Gate -> Held, while one of bailiff.decisions.policies holds it back, by RuleFacts
            \-> a Line of Held, until Meters let it begin -> RUNNING
"""

from bailiff.worker.gate.gate import Gate

__all__ = ["Gate"]
