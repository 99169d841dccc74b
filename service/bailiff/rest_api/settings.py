"""What may be set about the REST face."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from bailiff.face_settings import MOST, Bytes, Count, FaceSettings, Seconds
from bailiff.serving import BOUNDS, Threads

if TYPE_CHECKING:
    from bailiff.serving import ByteBudget

_MIB = 1024 * 1024


class RestSettings(FaceSettings):
    """Where it listens and what it bears.

    Attributes:
        max_body_bytes: longest body of a question about one pod. A pod object is bounded by
            etcd's 1.5 MiB and is hardly ever above 100 KiB.
        max_batch_body_bytes: longest body of a question about many objects that does not announce
            its length. 1,000 real pods are about 2 MiB slimmed and 8 MiB whole.
        max_long_body_bytes: longest body of such a question that announces its length. 20,000
            claims and devices are about 12 MiB slimmed; whole objects are several times that, so
            leave out managedFields and attributes.
        max_review_body_bytes: longest AdmissionReview. It holds an object twice, before and after;
            kube-apiserver takes no more than 3 MiB in a request, and etcd keeps 1.5 MiB of each.
        max_threads: long questions that are answered in threads at the same time, over REST and
            gRPC together. Others wait for their turn. This bounds the processor time that long
            questions take from the others: Python runs one thread at a time, and each thread asks
            for its turn as often as the event loop does.
        max_queue_age_seconds: how long a request waits for its turn in a thread, for a read of the
            cluster, and in the server's own queue. Then it gets 503. It is longer than the longest
            answer in a thread, so that a few of them wait for each other. It is shorter than
            common deadlines of callers, so that no caller is answered who has gone. Probes and
            metrics may wait longer.
        max_connections, max_connections_per_peer, header_timeout_seconds, max_header_bytes,
            body_timeout_seconds, answer_timeout_seconds: see Bounds.
        keep_alive_seconds: how long an idle connection is kept. Go's clients drop theirs after
            90 s, and common load balancers after 60 s. This is longer, so that Bailiff does not
            close a connection under a request.
        cluster_timeout_seconds: time for reading from the cluster for one answer, all its requests
            together.
        max_cluster_reads: answers that read from the cluster at the same time. More wait, for
            max_queue_age_seconds. So a crowd of callers does not become the API server's load.
    """

    model_config = SettingsConfigDict(env_prefix="BAILIFF_REST_")

    port: int = Field(default=8080, ge=0, le=65535)
    max_body_bytes: Bytes = 1 * _MIB
    max_batch_body_bytes: Bytes = 4 * _MIB
    max_long_body_bytes: Bytes = 16 * _MIB
    max_review_body_bytes: Bytes = 8 * _MIB
    max_threads: Count = 2
    max_queue_age_seconds: Seconds = 1.0
    max_connections: Count = BOUNDS.max_connections
    max_connections_per_peer: Count = BOUNDS.max_connections_per_peer
    header_timeout_seconds: Seconds = BOUNDS.header_timeout_seconds
    max_header_bytes: Bytes = BOUNDS.max_header_bytes
    body_timeout_seconds: Seconds = BOUNDS.body_timeout_seconds
    answer_timeout_seconds: Seconds = BOUNDS.answer_timeout_seconds
    keep_alive_seconds: int = Field(default=100, ge=0, le=MOST)
    cluster_timeout_seconds: Seconds = 10.0
    max_cluster_reads: Count = 16

    def threads(self, budget: ByteBudget) -> Threads:
        """Where questions are answered that take long; `budget` has their bytes."""
        return Threads(self.max_threads, self.max_queue_age_seconds, budget)
