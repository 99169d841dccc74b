"""Devices in the worker: what is known of them, how it is followed, what rules' statuses say."""

from bailiff.worker.devices.devices import Devices, Kind, State
from bailiff.worker.devices.following import DeviceFollowing, OpenWatch
from bailiff.worker.devices.rule_status import RuleStatusWriter

__all__ = ["DeviceFollowing", "Devices", "Kind", "OpenWatch", "RuleStatusWriter", "State"]
