"""All messages of bailiff.v1 under one name: what questions and answers are made of."""

from bailiff.v1.decision_pb2 import *  # noqa: F403 - all of them
from bailiff.v1.device_taints_pb2 import *  # noqa: F403
from bailiff.v1.eviction_decision_service_pb2 import *  # noqa: F403
from bailiff.v1.kubernetes_pb2 import *  # noqa: F403
from bailiff.v1.node_loss_pb2 import *  # noqa: F403
from bailiff.v1.node_taints_pb2 import *  # noqa: F403
from bailiff.v1.object_reference_pb2 import *  # noqa: F403
from bailiff.v1.pressure_pb2 import *  # noqa: F403
from bailiff.v1.reports_pb2 import *  # noqa: F403
from bailiff.v1.resource_pb2 import *  # noqa: F403
from bailiff.v1.scheduling_service_pb2 import *  # noqa: F403
