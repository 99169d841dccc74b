"""The REST face: Kubernetes JSON in, decisions out. It translates and nothing else."""

from bailiff.rest_api.app import RestServer, create_app, create_hook_app
from bailiff.rest_api.settings import RestSettings

__all__ = ["RestServer", "RestSettings", "create_app", "create_hook_app"]
