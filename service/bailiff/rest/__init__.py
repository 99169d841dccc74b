"""The REST face: Kubernetes JSON in, decisions out. It translates and nothing else."""

from bailiff.rest.app import RestApp, create_app
from bailiff.rest.server import RestServer
from bailiff.rest.settings import RestSettings

__all__ = ["RestApp", "RestServer", "RestSettings", "create_app"]
