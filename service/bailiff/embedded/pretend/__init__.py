"""Stand-ins for the rest of a cluster: scheduler, kubelets and controllers, simple but lively.

They work in this process on the registry, past HTTP, so that faults do not strike them. None of
them evicts anything: that is the worker's business.
"""

from bailiff.embedded.pretend.actor import Actor, perform
from bailiff.embedded.pretend.claims import Claims
from bailiff.embedded.pretend.collector import Collector
from bailiff.embedded.pretend.disruption import Disruption
from bailiff.embedded.pretend.kubelet import Kubelet
from bailiff.embedded.pretend.scheduler import Scheduler
from bailiff.embedded.pretend.workloads import Workloads

__all__ = [
    "Actor",
    "Claims",
    "Collector",
    "Disruption",
    "Kubelet",
    "Scheduler",
    "Workloads",
    "perform",
]
