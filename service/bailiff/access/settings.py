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
        audience: that a token must be meant for, so that nobody who is shown it can use it at the
            API server, and no token for the API server is ever sent here.
        allowed_seconds: for which the API server's word that a token is good, or that a caller may
            do something, is believed. Who is locked out is let in for as long. What is in use is
            asked for again in the last quarter of that.
        denied_seconds: for which its word to the contrary is believed. Short: who was just given a
            right, or a token, does not wait long.
        max_kept: answers of each kind that are kept; allowed and denied ones apart, so that a
            flood of made-up tokens drives no good one out. Where there are more, the oldest of the
            caller with most makes room. Each takes about 1 KiB.
        max_reviews: questions to the API server at a time; more wait for their turn.
        max_waiting: questions that may wait for their turn; of more, those of whoever has most are
            refused. Those about callers who are known wait apart, as many at most.
        max_waiting_per_peer: of these, those of one address or IPv6 network of /64, or of one
            caller who is known.
        review_timeout_seconds: for one question, waiting for its turn included.
        max_token_bytes: of a token. Those of Kubernetes have about 1 KiB.
        max_requests_per_second: of one caller, on all ports of the process together; a stream's
            requests count one by one.
        max_burst_requests: that it may have saved up.
        max_concurrent_requests: of one caller at a time; a stream is one.
        max_bytes_per_second: of one caller, in and out.
        max_burst_bytes: that it may have saved up. A question is answered as long as there is
            anything left, so that none is too long for the quota.
        max_callers: that are remembered; where there are more, who has not asked for longest is
            forgotten, and begins anew. Nobody is who has a request under way: where all have, a
            further one is refused.
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
