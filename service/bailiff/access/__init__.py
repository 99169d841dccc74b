"""Who asks, what it may, and how much: the same for REST, gRPC and the worker's status port.

Between the client and the faces: it finds out who a caller is by a client certificate, by a file of
tokens, or by asking the API server, and what it may by asking the API server. How a refusal is
worded is for each face to say.
"""

from bailiff.access.asgi import Guarded
from bailiff.access.asked import Asked
from bailiff.access.callers import Caller
from bailiff.access.certificates import caller_of_peer
from bailiff.access.errors import (
    AccessError,
    DeniedError,
    MisnamedError,
    OtherMethodError,
    QuotaError,
    UnauthenticatedError,
    UnavailableError,
    UnknownPathError,
)
from bailiff.access.guard import Guard
from bailiff.access.kubernetes import ClusterReviewer, Reviewer
from bailiff.access.metrics import AccessMetrics
from bailiff.access.own_loop import GuardedInItsLoop
from bailiff.access.quotas import Account
from bailiff.access.reviews import DENIED, Denied
from bailiff.access.rights import Right
from bailiff.access.rules import STATUS_RULES, Rule, Rules, grpc_rules, rest_rules
from bailiff.access.settings import AccessSettings
from bailiff.access.static_tokens import StaticTokens, TokenFileError

__all__ = [
    "DENIED",
    "STATUS_RULES",
    "AccessError",
    "AccessMetrics",
    "AccessSettings",
    "Account",
    "Asked",
    "Caller",
    "ClusterReviewer",
    "Denied",
    "DeniedError",
    "Guard",
    "Guarded",
    "GuardedInItsLoop",
    "MisnamedError",
    "OtherMethodError",
    "QuotaError",
    "Reviewer",
    "Right",
    "Rule",
    "Rules",
    "StaticTokens",
    "TokenFileError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnknownPathError",
    "caller_of_peer",
    "grpc_rules",
    "rest_rules",
]
