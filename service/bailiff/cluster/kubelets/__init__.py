"""Kubelets: their summaries and configurations, straight or by way of the API server."""

from bailiff.cluster.kubelets.client import Kubelets, SummaryRead, connect_kubelets
from bailiff.cluster.kubelets.errors import (
    KubeletAddressError,
    KubeletError,
    KubeletForbiddenError,
    KubeletMalformedError,
    KubeletStatusError,
    KubeletTimeoutError,
    KubeletTlsError,
    KubeletTooLongError,
    KubeletUnauthenticatedError,
    KubeletUnreachableError,
)
from bailiff.cluster.kubelets.reader import (
    Outcome,
    SummaryListener,
    SummaryReader,
    SummarySource,
)
from bailiff.cluster.kubelets.settings import (
    ADDRESS_TYPES,
    KubeletSettings,
    ReaderSettings,
    ViaApiServer,
    check_seconds,
)
from bailiff.cluster.kubelets.summaries import MeasuredNode, decode_configuration

__all__ = [
    "ADDRESS_TYPES",
    "KubeletAddressError",
    "KubeletError",
    "KubeletForbiddenError",
    "KubeletMalformedError",
    "KubeletSettings",
    "KubeletStatusError",
    "KubeletTimeoutError",
    "KubeletTlsError",
    "KubeletTooLongError",
    "KubeletUnauthenticatedError",
    "KubeletUnreachableError",
    "Kubelets",
    "MeasuredNode",
    "Outcome",
    "ReaderSettings",
    "SummaryListener",
    "SummaryRead",
    "SummaryReader",
    "SummarySource",
    "ViaApiServer",
    "check_seconds",
    "connect_kubelets",
    "decode_configuration",
]
