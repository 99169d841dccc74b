"""What an operator may set of the gRPC face."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from bailiff.face_settings import MOST, Bytes, Count, FaceSettings, Seconds

# Connections that the door has ended, and grpcio not yet.
_LEAVING = 64
_UNBOUNDED = 2**31 - 1
_LOOKAHEAD = 64 * 1024
MAX_METADATA = 16 * 1024


class GrpcSettings(FaceSettings):
    """Address and bounds of the gRPC server.

    Attributes:
        port: TCP port; 0 takes a free one. 9090 is the usual one for gRPC in a cluster.
        reuse_port: let several processes listen on the same port (SO_REUSEPORT) and share its
            connections. Off, so that a second server started by mistake fails.
        max_message_bytes: longest request about one pod, in bytes. 4 MiB is gRPC's own default. The
            transport takes at least twice as much. So a request that is a little too long gets
            `BODY_TOO_LARGE`, and does not end its stream.
        max_batch_message_bytes: longest other request, in bytes. 20,000 pods, claims and devices
            are about 7 MiB slimmed; whole objects are several times that, so leave out
            managedFields and attributes. The transport takes no more.
        max_long_messages: questions above max_message_bytes that are answered at the same time.
            More are refused with UNAVAILABLE. This bounds their memory, and the processor time that
            they take from the others.
        max_answer_bytes: longest answer in one message, in bytes; a method that answers in parts
            sends several. 4 MiB is what clients take if they are not told otherwise.
        max_concurrent_rpcs: calls of our service with one request that are under way at once in
            this process, half of them from one address. If there are more, the call that has
            waited longest for its message is ended to make room. If none waits, the new call is
            refused. Both get UNAVAILABLE and the time to wait.
        max_queue_age_seconds: how long a call waits until it is begun, then its message until it
            is read, and a long message until it has a thread. A call that has waited longer is
            refused with UNAVAILABLE and the time to wait. So the calls that are let in are answered
            soon, however many there are.
        max_streams: streams of requests that are open at once, half of them from one address.
        max_watches: calls that follow the health or read the descriptions, half of them from one
            address.
        max_connections: connections in all. More are closed at once. A client's calls then end as
            UNAVAILABLE, and it comes again after its backoff. The last places are for addresses
            with few connections, and a connection without a call makes room.
        max_connections_per_peer: connections of one address, or of one IPv6 network of /64. Trusted
            proxies are bounded by `max_connections` only.
        message_timeout_seconds: time in which a call sends its message, and a TLS handshake ends.
        answer_timeout_seconds: time in which a client reads an answer. Then its connection ends.
        stream_idle_seconds: how long a stream may rest between two messages.
        max_concurrent_streams: calls under way at once on one connection; the client queues
            further ones. 100 is the usual figure of HTTP/2 servers.
        max_connection_age_seconds: age at which a connection is told to go (GOAWAY), with 10 %
            jitter by gRPC. None: never. A Service, or SO_REUSEPORT, balances connections only when
            they are made. So a new replica gets its share within this time.
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
    max_message_bytes: Bytes = 4 * 1024 * 1024
    max_batch_message_bytes: Bytes = 16 * 1024 * 1024
    max_long_messages: int = Field(default=4, ge=0, le=MOST)
    max_answer_bytes: Bytes = 4 * 1024 * 1024
    max_concurrent_rpcs: Count = 1000
    max_queue_age_seconds: Seconds = 1.0
    max_streams: Count = 200
    max_watches: Count = 100
    max_connections: Count = 1024
    max_connections_per_peer: Count = 256
    message_timeout_seconds: Seconds = 10.0
    answer_timeout_seconds: Seconds = 60.0
    stream_idle_seconds: Seconds = 300.0
    max_concurrent_streams: Count = 100
    max_connection_age_seconds: Seconds | None = 300.0
    max_connection_age_grace_seconds: Seconds = 60.0
    keepalive_seconds: Seconds = 60.0
    keepalive_timeout_seconds: Seconds = 20.0
    reflection: bool = True

    def channel_arguments(self) -> tuple[tuple[str, int], ...]:
        """The same in gRPC's own terms (grpc/include/grpc/impl/channel_arg_names.h)."""
        return (
            # The port is the door's. grpcio listens on a socket of this machine behind it.
            ("grpc.so_reuseport", 0),
            ("grpc.max_allowed_incoming_connections", self.max_connections + _LEAVING),
            # Of a message that nobody has asked for yet 64 KiB are taken, and no more: the probe
            # of the bandwidth would make that several MiB, for each stream.
            ("grpc.http2.bdp_probe", 0),
            ("grpc.http2.lookahead_bytes", _LOOKAHEAD),
            # Bytes of a call's headers; what is beyond the second is refused at once.
            ("grpc.max_metadata_size", MAX_METADATA),
            ("grpc.absolute_max_metadata_size", MAX_METADATA),
            # Calls that wait until they are begun; how long they may is bounded in our own words.
            ("grpc.server.max_pending_requests", _UNBOUNDED),
            ("grpc.server.max_pending_requests_hard_limit", _UNBOUNDED),
            # Time for the first words of HTTP/2.
            ("grpc.server_handshake_timeout_ms", _milliseconds(self.message_timeout_seconds)),
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

    def most_unread(self) -> int:
        """Answers that may be on their way at once, before the client with most of them goes."""
        return self.max_concurrent_rpcs + self.max_streams

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
    return max(1, round(seconds * 1000))
