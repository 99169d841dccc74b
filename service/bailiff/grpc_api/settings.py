"""What an operator may set of the gRPC face."""

from __future__ import annotations

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt
from pydantic_settings import SettingsConfigDict

from bailiff.face_settings import FaceSettings


class GrpcSettings(FaceSettings):
    """Address and bounds of the gRPC server.

    Attributes:
        port: TCP port; 0 takes a free one. 9090 is the usual one for gRPC in a cluster.
        reuse_port: let several processes listen on the same port (SO_REUSEPORT) and share its
            connections. Off, so that a second server started by mistake fails.
        max_message_bytes: longest request about one pod, in bytes. 4 MiB is gRPC's own default. The
            transport takes at least twice as much, so that a request somewhat too long is answered
            with `BODY_TOO_LARGE` in place of a bare status, and does not end its stream.
        max_batch_message_bytes: longest other request, in bytes. 20,000 pods, claims and devices
            are about 7 MiB slimmed; whole objects are several times that, so leave out
            managedFields and attributes. The transport takes no more.
        max_long_messages: questions above max_message_bytes that are answered at the same time;
            more are refused with UNAVAILABLE. Bounds the memory of what they hold, and the
            processor time that they take from everybody else.
        max_answer_bytes: longest answer in one message, in bytes; a method that answers in parts
            sends several. 4 MiB is what clients take if they are not told otherwise.
        max_concurrent_rpcs: calls of our service that are answered at once in this process; more
            are refused with UNAVAILABLE and the time to wait. Bounds memory: at worst twice this
            many times what the transport takes, since grpcio takes twice as many calls, which
            includes those still sending and those of health and reflection; beyond, it refuses by
            itself, with a bare RESOURCE_EXHAUSTED.
        max_concurrent_streams: calls under way at once on one connection; the client queues
            further ones. 100 is the usual figure of HTTP/2 servers.
        max_connection_age_seconds: age at which a connection is told to go (GOAWAY), with 10 %
            jitter by gRPC. None: never. Connections are balanced only when they are made, by a
            Service and by SO_REUSEPORT alike, so a replica that is added gets its share within
            this time.
        max_connection_age_grace_seconds: time that calls still have after that. It is also the
            longest that a stream can outlive its connection's age.
        keepalive_seconds: time without traffic after which the peer is pinged; one that is gone
            without a word is noticed then. Shorter than the idle timeouts of usual load balancers,
            which begin at some minutes.
        keepalive_timeout_seconds: how long a ping may stay unanswered.
        reflection: serve the descriptions of the services (grpcurl, Postman). The protos are
            public, so there is nothing to hide.
    """

    model_config = SettingsConfigDict(env_prefix="BAILIFF_GRPC_")

    port: int = Field(default=9090, ge=0, le=65535)
    reuse_port: bool = False
    max_message_bytes: PositiveInt = 4 * 1024 * 1024
    max_batch_message_bytes: PositiveInt = 16 * 1024 * 1024
    max_long_messages: NonNegativeInt = 4
    max_answer_bytes: PositiveInt = 4 * 1024 * 1024
    max_concurrent_rpcs: PositiveInt = 1000
    max_concurrent_streams: PositiveInt = 100
    max_connection_age_seconds: PositiveFloat | None = 300.0
    max_connection_age_grace_seconds: PositiveFloat = 60.0
    keepalive_seconds: PositiveFloat = 60.0
    keepalive_timeout_seconds: PositiveFloat = 20.0
    reflection: bool = True

    def channel_arguments(self) -> tuple[tuple[str, int], ...]:
        """The same in gRPC's own terms (grpc/include/grpc/impl/channel_arg_names.h)."""
        return (
            ("grpc.so_reuseport", int(self.reuse_port)),
            ("grpc.max_receive_message_length", self._longest_received()),
            # Answers have a bound of their own; a client that cannot take one says so itself.
            ("grpc.max_send_message_length", -1),
            ("grpc.max_concurrent_streams", self.max_concurrent_streams),
            *self._connection_age(),
            ("grpc.keepalive_time_ms", _milliseconds(self.keepalive_seconds)),
            ("grpc.keepalive_timeout_ms", _milliseconds(self.keepalive_timeout_seconds)),
            # Clients may keep idle connections warm, but not flood.
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        )

    def most_calls(self) -> int:
        """Calls that grpcio takes, of all services, before it refuses by itself."""
        return 2 * self.max_concurrent_rpcs

    def _longest_received(self) -> int:
        return max(2 * self.max_message_bytes, self.max_batch_message_bytes)

    def _connection_age(self) -> tuple[tuple[str, int], ...]:
        if self.max_connection_age_seconds is None:
            return ()
        return (
            ("grpc.max_connection_age_ms", _milliseconds(self.max_connection_age_seconds)),
            (
                "grpc.max_connection_age_grace_ms",
                _milliseconds(self.max_connection_age_grace_seconds),
            ),
        )


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
