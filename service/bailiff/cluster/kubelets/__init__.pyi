from .client import Kubelets, SummaryRead, connect_kubelets
from .errors import (
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
from .reader import (
    Outcome,
    SummaryListener,
    SummaryReader,
    SummarySource,
)
from .settings import (
    ADDRESS_TYPES,
    KubeletSettings,
    ReaderSettings,
    ViaApiServer,
    check_seconds,
)
from .summaries import MeasuredNode, decode_configuration

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
