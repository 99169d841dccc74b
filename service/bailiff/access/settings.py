"""What may be set of who asks, and how much one caller may."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from bailiff.face_settings import Bytes, Count, EnvironmentSettings, Rate, Seconds, Total

_MIB = 1024 * 1024


class AccessSettings(EnvironmentSettings):
    """How long answers are believed, and the quotas of one caller.

    What is not given is read from the environment, as `BAILIFF_ACCESS_ALLOWED_SECONDS`.

    Attributes:
        audience: audience that a token must name. A token for Bailiff is then useless at the API
            server, and no token for the API server is ever sent to Bailiff.
        allowed_seconds: time for which the API server's yes is believed: the token is good, or the
            caller may do something. A right that is taken away holds for this long. Answers in use
            are renewed in the last quarter of this time.
        denied_seconds: time for which the API server's no is believed. It is short, so that a
            caller with a new right or token does not wait long.
        max_kept: answers of each kind that are kept. Allowed and denied answers are kept apart, so
            that a flood of made-up tokens drives out no good answer. If there are more, the oldest
            answer of the caller with the most answers makes room. Each takes about 1 KiB.
        max_reviews: questions to the API server at a time. More questions wait for their turn.
        max_waiting: questions that may wait for their turn. If there are more, questions of the
            caller with the most waiting are refused. Questions about known callers wait in a line
            of their own, with the same bound.
        max_waiting_per_peer: waiting questions of one address, one IPv6 network of /64, or one
            known caller.
        review_timeout_seconds: time for one question, waiting for its turn included.
        max_token_bytes: length of a token. Tokens of Kubernetes have about 1 KiB.
        max_requests_per_second: requests of one caller, on all ports of the process together. The
            requests of a stream count one by one.
        max_burst_requests: requests that one caller may save up.
        max_concurrent_requests: requests of one caller at a time. A stream is one request.
        max_bytes_per_second: bytes of one caller, in and out.
        max_burst_bytes: bytes that one caller may save up. A question is answered as long as any
            bytes are left, so that no question is too long for the quota.
        max_callers: callers that are remembered. If there are more, the caller that has not asked
            for longest is forgotten and begins anew. A caller with a request under way is never
            forgotten. If all callers have one, a further caller is refused.
    """

    model_config = SettingsConfigDict(env_prefix="BAILIFF_ACCESS_")

    audience: str = Field(default="bailiff", min_length=1)
    allowed_seconds: Seconds = 60.0
    denied_seconds: Seconds = 10.0
    max_kept: Count = 4096
    max_reviews: Count = 8
    max_waiting: Count = 256
    max_waiting_per_peer: Count = 64
    review_timeout_seconds: Seconds = 5.0
    max_token_bytes: Bytes = 16 * 1024
    max_requests_per_second: Rate = 5000.0
    max_burst_requests: Total = 10_000
    max_concurrent_requests: Count = 256
    max_bytes_per_second: Rate = 32.0 * _MIB
    max_burst_bytes: Total = 256 * _MIB
    max_callers: Count = 4096
