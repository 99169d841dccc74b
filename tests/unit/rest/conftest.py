"""One REST face, and what it answers from."""

import pytest
from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from bailiff.decisions import Options
from bailiff.rest_api import RestSettings, create_app
from tests.harness.faces.rest_face import CLOCK
from tests.harness.lookups import DictSource


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def source() -> DictSource:
    return DictSource()


@pytest.fixture
def app(registry: CollectorRegistry, source: DictSource) -> FastAPI:
    return create_app(RestSettings(), CLOCK, registry, Options(), source)
