"""Scenes in which alerts fire, and those near by in which they do not."""

from tests.harness.monitoring.alert_scenes.base import Scene
from tests.harness.monitoring.alert_scenes.of_nodes import AGENTS, NODE_LOSS, PRESSURE
from tests.harness.monitoring.alert_scenes.of_old_trouble import OLD_TROUBLE
from tests.harness.monitoring.alert_scenes.of_the_api import CERTIFICATES, REQUESTS, WEBHOOKS
from tests.harness.monitoring.alert_scenes.of_the_worker import (
    EVICTING,
    LEADING,
    POLICIES_AND_DEVICES,
    WATCHING,
)

__all__ = ["SCENES", "Scene"]

SCENES: list[Scene] = [
    *(*LEADING, *WATCHING, *EVICTING, *POLICIES_AND_DEVICES),
    *(*CERTIFICATES, *WEBHOOKS, *REQUESTS),
    *(*PRESSURE, *NODE_LOSS, *AGENTS, *OLD_TROUBLE),
]
