"""Devices in the worker: what is known of them, how it is followed, what rules' statuses say."""

from bailiff.worker.systems.device_taints.devices import Devices, Kind, State
from bailiff.worker.systems.device_taints.following import DeviceFollowing, OpenWatch
from bailiff.worker.systems.device_taints.rule_status import RuleStatusWriter

__all__ = ["DeviceFollowing", "Devices", "Kind", "OpenWatch", "RuleStatusWriter", "State"]
