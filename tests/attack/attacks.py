"""The attacks by name, each with the port that it is aimed at."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tests.attack import grpc_attacks as grpc
from tests.attack import http_attacks as http
from tests.attack import secured_attacks as secured
from tests.attack.clients import ONE, Attack

MIB = 1024 * 1024
_DECIDE, _BATCH = "/v1/decisions", "/v1/decisions/batch"


class Port(StrEnum):
    """Which port of which process."""

    REST = "rest"
    GRPC = "grpc"
    HEALTH = "health"
    STATUS = "status"

    @property
    def is_workers(self) -> bool:
        """Whether the worker has it; else `bailiff serve`."""
        return self is Port.STATUS


class Named(NamedTuple):
    """An attack.

    Attributes:
        is_quick: whether a minute's selection has it.
        is_secured: whether it is one on ports that have TLS and ask who calls.
    """

    port: Port
    attack: Attack
    is_quick: bool = False
    is_secured: bool = False


_QUEUE = http.request("GET", "/v1/queue?limit=1000")
_OPEN = {
    "rest-trailers": Named(Port.REST, http.trailers(), is_quick=True),
    "rest-half-heads": Named(Port.REST, http.half_heads(3000)),
    "rest-line-ends": Named(Port.REST, http.line_ends(4096)),
    "rest-one-byte-bodies": Named(Port.REST, http.one_byte_bodies(300, _DECIDE), is_quick=True),
    "rest-stalled-bodies": Named(Port.REST, http.stalled_bodies(200, _BATCH, 4 * MIB)),
    "rest-stalled-long-bodies": Named(Port.REST, http.stalled_bodies(60, _BATCH, 16 * MIB)),
    "rest-unread-documents": Named(
        Port.REST, http.unread_answers(262, http.request("GET", "/openapi.json") * 20)
    ),
    "rest-malformed": Named(Port.REST, http.malformed(20)),
    "rest-connections": Named(Port.REST, http.connections(8192)),
    "rest-many-taints": Named(Port.REST, http.asked_again(8, http.many_taints(), ONE)),
    "rest-long-key": Named(Port.REST, http.asked_again(8, http.long_key(), ONE)),
    "rest-empty-objects": Named(Port.REST, http.asked_again(4, http.empty_objects(), ONE)),
    "rest-one-device": Named(Port.REST, http.asked_again(8, http.slices_of_one_device(), ONE)),
    "grpc-stalled-messages": Named(Port.GRPC, grpc.stalled_messages(100, 16 * MIB - 100, 1)),
    "grpc-stalled-messages-of-three": Named(
        Port.GRPC, grpc.stalled_messages(100, 16 * MIB - 100, 3)
    ),
    "grpc-idle-calls": Named(Port.GRPC, grpc.idle_calls(10, "Decide"), is_quick=True),
    "grpc-idle-streams": Named(Port.GRPC, grpc.idle_calls(10, "DecideStream", ONE)),
    "grpc-resets": Named(Port.GRPC, grpc.resets(4)),
    "grpc-tiny-frames": Named(Port.GRPC, grpc.tiny_frames(20)),
    "grpc-hidden-streams": Named(Port.GRPC, grpc.hidden_streams(4, 15 * MIB)),
    "grpc-bad-metadata": Named(Port.GRPC, grpc.bad_metadata(4)),
    "grpc-unread-answers": Named(Port.GRPC, grpc.unread_answers(4)),
    "grpc-connections": Named(Port.GRPC, grpc.connections(8192)),
    "health-half-heads": Named(Port.HEALTH, http.half_heads(1000), is_quick=True),
    "status-trailers": Named(Port.STATUS, http.trailers()),
    "status-half-heads": Named(Port.STATUS, http.half_heads(3000)),
    "status-line-ends": Named(Port.STATUS, http.line_ends(4096)),
    "status-queue": Named(Port.STATUS, http.asked_again(60, _QUEUE, ONE), is_quick=True),
    "status-queue-crowd": Named(Port.STATUS, http.asked_again(1000, _QUEUE)),
    "status-unread-queue": Named(Port.STATUS, http.unread_answers(1000, _QUEUE * 5)),
    "status-metrics": Named(
        Port.STATUS, http.asked_again(60, http.request("GET", "/metrics"), ONE)
    ),
}


def _secured(port: Port, attack: Attack, *, is_quick: bool = False) -> Named:
    return Named(port, attack, is_quick, is_secured=True)


_SECURED = {
    "secured-made-up-tokens": _secured(
        Port.REST, secured.made_up_tokens(50, "POST", _DECIDE, b"{}"), is_quick=True
    ),
    "secured-grpc-made-up-tokens": _secured(Port.GRPC, secured.made_up_tokens_over_grpc(5)),
    "secured-denied": _secured(Port.REST, secured.denied(60)),
    "secured-half-handshakes": _secured(Port.REST, secured.half_handshakes(3000)),
    "secured-grpc-half-handshakes": _secured(Port.GRPC, secured.half_handshakes(3000)),
    "secured-handshakes": _secured(Port.REST, secured.handshakes(32)),
    "secured-grpc-handshakes": _secured(Port.GRPC, secured.handshakes(32)),
    "secured-status-made-up-tokens": _secured(
        Port.STATUS, secured.made_up_tokens(15, "GET", "/v1/queue")
    ),
}
ATTACKS = _OPEN | _SECURED
