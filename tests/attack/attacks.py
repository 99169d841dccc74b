"""The attacks by name, each with the port that it is aimed at."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tests.attack import grpc_attacks as grpc
from tests.attack import http_attacks as http
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
    """An attack, and whether a minute's selection has it."""

    port: Port
    attack: Attack
    is_quick: bool = False


_QUEUE = http.request("GET", "/v1/queue?limit=1000")
ATTACKS = {
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
