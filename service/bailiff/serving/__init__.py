"""How every HTTP port of this process is opened and closed: in the running loop, or in a thread.

And what each of them bears: connections, bytes, time.
"""

from bailiff.serving.bounds import BOUNDS, Bounds, OverloadedError, Reason, Refuse
from bailiff.serving.byte_budget import ByteBudget
from bailiff.serving.complaints import Complaint
from bailiff.serving.edge import Edge
from bailiff.serving.gate import Gate
from bailiff.serving.health_port import HealthPort
from bailiff.serving.peers import Peer, peer_of
from bailiff.serving.pulse import Answer, Pulse, Verdicts
from bailiff.serving.refusals import Refusals
from bailiff.serving.server import HttpServer
from bailiff.serving.settings import EdgeSettings
from bailiff.serving.threaded import ThreadedHttpServer
from bailiff.serving.threads import Threads
from bailiff.serving.tls import ServingTls, TlsFiles, TlsUnusableError

__all__ = [
    "BOUNDS",
    "Answer",
    "Bounds",
    "ByteBudget",
    "Complaint",
    "Edge",
    "EdgeSettings",
    "Gate",
    "HealthPort",
    "HttpServer",
    "OverloadedError",
    "Peer",
    "Pulse",
    "Reason",
    "Refusals",
    "Refuse",
    "ServingTls",
    "ThreadedHttpServer",
    "Threads",
    "TlsFiles",
    "TlsUnusableError",
    "Verdicts",
    "peer_of",
]
