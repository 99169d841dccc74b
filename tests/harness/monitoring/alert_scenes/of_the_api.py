"""The decision API, its webhooks and callers, certificates and traces."""

from __future__ import annotations

from tests.harness.monitoring.alert_scenes.base import AGENT, API, SLOWLY, Scene, of

_WEBHOOK = 'name="validate-pods.bailiff.dev"'
_EXPIRY = "bailiff_tls_certificate_expiry_timestamp_seconds"
_PASSED = "apiserver_admission_webhook_fail_open_count"
_REJECTED = "apiserver_admission_webhook_rejection_count"
_REVIEWS = "bailiff_admission_requests_total"
_REST, _GRPC = (f"bailiff_{face}_requests_total" for face in ("rest", "grpc"))
_AUTHENTICATED = "bailiff_authentication_total"
_SPANS = "bailiff_tracing_spans_total"
_DAY = 86400
_GATE = {"hook": "validate/evictions"}

CERTIFICATES = [
    Scene(
        "a certificate is good for three days",
        of(_EXPIRY, API, f"{3 * _DAY}x200"),
        5,
        {"CertificateExpires"},
    ),
    Scene("for eight days", of(_EXPIRY, API, f"{8 * _DAY}x200"), 5),
    Scene(
        "for half a day",
        of(_EXPIRY, API, f"{_DAY // 2}x200"),
        5,
        {"CertificateExpires", "CertificateExpiresSoon"},
    ),
    Scene(
        "a new certificate cannot be used",
        of("bailiff_tls_certificate_current", API, "0x200"),
        8,
        {"CertificateNotChanged"},
    ),
    Scene(
        "it is whole after three minutes",
        of("bailiff_tls_certificate_current", API, "0x3 1x200"),
        8,
    ),
]

WEBHOOKS = [
    Scene("a burst passes it by", of(_PASSED, _WEBHOOK, "_x10 400x90"), 16, {"WebhookNotReached"}),
    Scene(
        "the first that is barred",
        of(_REJECTED, _WEBHOOK, "_x10 400x90", error_type="calling_webhook_error"),
        12,
        {"WebhookNotReachedRefused"},
    ),
    Scene("a webhook is passed by", of(_PASSED, _WEBHOOK, "0+1x200"), 20, {"WebhookNotReached"}),
    Scene("of somebody else's webhook", of(_PASSED, 'name="other.example"', "0+1x200"), 20),
    Scene(
        "a webhook that does not answer bars requests",
        of(_REJECTED, _WEBHOOK, "0+1x200", error_type="calling_webhook_error"),
        12,
        {"WebhookNotReachedRefused"},
    ),
    Scene(
        "a webhook says no",
        of(_REJECTED, _WEBHOOK, "0+1x200", error_type="no_error"),
        12,
    ),
    Scene(
        "reviews are late",
        of(_REVIEWS, API, "0+1x200", hook="mutate/pods", result="late"),
        20,
        {"WebhookHasNoAnswer"},
    ),
    Scene(
        "reviews fail",
        of(_REVIEWS, API, "0+1x200", hook="mutate/pods", result="failed"),
        20,
        {"WebhookHasNoAnswer"},
    ),
    Scene(
        "reviews are answered",
        of(_REVIEWS, API, "0+99x200", hook="mutate/pods", result="patched"),
        20,
    ),
    Scene(
        "a hook gets what is not for it",
        of(_REVIEWS, API, "0+1x200", hook="mutate/pods", result="other"),
        12,
        {"WebhookMisrouted"},
    ),
    Scene(
        "a hook gets Bailiff's own requests",
        of(_REVIEWS, API, "0+1x200", hook="mutate/pods", result="exempt"),
        12,
    ),
    Scene(
        "the gate refuses much",
        of(_REVIEWS, API, "0+20x200", **_GATE, result="denied"),
        90,
        {"EvictionsHeldByTheGate"},
    ),
    Scene("half as much", of(_REVIEWS, API, "0+10x200", **_GATE, result="denied"), 90),
    Scene("the gate opens", of(_REVIEWS, API, "0+20x200", **_GATE, result="allowed"), 90),
    Scene(
        "another hook refuses much",
        of(_REVIEWS, API, "0+20x200", hook="validate/pods", result="denied"),
        90,
    ),
]

REQUESTS = [
    Scene(
        "connections are too many",
        of("bailiff_http_refused_total", API, "0+2x200", reason="connections"),
        20,
        {"RequestsRefused"},
    ),
    Scene(
        "some connections are refused",
        of("bailiff_http_refused_total", API, SLOWLY, reason="connections")
        | of("bailiff_grpc_connections_ended_total", API, SLOWLY, reason="refused"),
        20,
    ),
    Scene(
        "requests are malformed",
        of("bailiff_http_refused_total", API, "0+2x200", reason="malformed"),
        20,
    ),
    Scene(
        "connections of gRPC are too many",
        of("bailiff_grpc_connections_ended_total", API, "0+2x200", reason="refused"),
        20,
        {"RequestsRefused"},
    ),
    Scene(
        "readers of gRPC are slow",
        of("bailiff_grpc_connections_ended_total", API, "0+2x200", reason="slow_reader"),
        20,
    ),
    Scene(
        "one request in ten is refused",
        of(_REST, API, "0+10x200", status="503") | of(_REST, API, "0+90x200", status="200"),
        20,
        {"RequestsRefusedOverloaded"},
    ),
    Scene(
        "three in a hundred",
        of(_REST, API, "0+3x200", status="503")
        | of(_REST, API, "0+97x200", status="200")
        | of(_GRPC, API, "0+3x200", code="UNAVAILABLE")
        | of(_GRPC, API, "0+97x200", code="OK"),
        20,
    ),
    Scene(
        "one of gRPC's in ten is refused",
        of(_GRPC, API, "0+10x200", code="RESOURCE_EXHAUSTED")
        | of(_GRPC, API, "0+90x200", code="OK"),
        20,
        {"RequestsRefusedOverloaded"},
    ),
    Scene(
        "REST has faults",
        of(_REST, API, "0+2x200", status="500") | of(_REST, API, "0+98x200", status="200"),
        20,
        {"RequestsRefusedErrors"},
    ),
    Scene(
        "faults are one in two hundred",
        of(_REST, API, "0+1x200", status="500")
        | of(_REST, API, "0+199x200", status="200")
        | of(_GRPC, API, "0+1x200", code="UNKNOWN")
        | of(_GRPC, API, "0+199x200", code="OK"),
        20,
    ),
    Scene(
        "callers of REST have faults",
        of(_REST, API, "0+50x200", status="400") | of(_REST, API, "0+50x200", status="200"),
        20,
    ),
    Scene(
        "gRPC has faults",
        of(_GRPC, API, "0+2x200", code="INTERNAL") | of(_GRPC, API, "0+98x200", code="OK"),
        20,
        {"RequestsRefusedErrors"},
    ),
    Scene(
        "callers of gRPC have faults",
        of(_GRPC, API, "0+50x200", code="INVALID_ARGUMENT") | of(_GRPC, API, "0+50x200", code="OK"),
        20,
    ),
    Scene(
        "tokens are not reviewed",
        of(_AUTHENTICATED, API, "0+1x200", outcome="unavailable"),
        20,
        {"RequestsRefusedCallerUnknown"},
    ),
    Scene(
        "the collector is away",
        of(_SPANS, API, "0+9x200", fate="failed"),
        30,
        {"SpansNotSent"},
    ),
    Scene(
        "too many spans wait",
        of(_SPANS, AGENT, "0+9x200", fate="dropped"),
        30,
        {"SpansNotSent"},
    ),
    Scene("the collector starts again", of(_SPANS, API, "0x10 9x200", fate="failed"), 30),
    Scene("the collector takes all", of(_SPANS, API, "0+99x200", fate="exported"), 30),
    Scene(
        "callers show no token",
        of(_AUTHENTICATED, API, "0+9x200", outcome="unauthenticated"),
        20,
    ),
]
