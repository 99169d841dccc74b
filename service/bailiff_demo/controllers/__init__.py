"""Stand-ins for the rest of a cluster: scheduler, kubelets and controllers, simple but lively.

They work in this process on the registry, past HTTP. None of them evicts anything: that is the
worker's business.
"""

from bailiff_demo.controllers.collector import Claims, Collector
from bailiff_demo.controllers.controller import Controller, run
from bailiff_demo.controllers.disruption import Disruption
from bailiff_demo.controllers.kubelet import Kubelet
from bailiff_demo.controllers.scheduler import Scheduler
from bailiff_demo.controllers.workloads import Workloads

__all__ = [
    "Claims",
    "Collector",
    "Controller",
    "Disruption",
    "Kubelet",
    "Scheduler",
    "Workloads",
    "run",
]
