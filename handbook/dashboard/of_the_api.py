"""Rows about the decision API, its webhooks, and the certificates and policies of all."""

from __future__ import annotations

from handbook.dashboard.panels import Row, panel, quantile, rate

DECISION_API = Row(
    "Decision API",
    (
        panel(
            "REST requests",
            "By status. 503 and 429 ask the caller to come again later.",
            rate("bailiff_rest_requests_total{}", "status"),
            unit="reqps",
        ),
        panel(
            "Duration over REST",
            "By route.",
            quantile(0.99, "bailiff_rest_request_duration_seconds", "route"),
            unit="s",
        ),
        panel(
            "Decisions",
            "By verdict, over REST and over gRPC.",
            (rate("bailiff_rest_decisions_total{}", "verdict")[0], "REST {{verdict}}"),
            (rate("bailiff_grpc_decisions_total{}", "verdict")[0], "gRPC {{verdict}}"),
            unit="ops",
        ),
        panel(
            "gRPC requests",
            "By code. UNAVAILABLE asks the caller to come again later.",
            rate("bailiff_grpc_requests_total{}", "code"),
            unit="reqps",
        ),
        panel(
            "Duration over gRPC",
            "By method.",
            quantile(0.99, "bailiff_grpc_request_duration_seconds", "method"),
            unit="s",
        ),
        panel(
            "Under way",
            "REST requests that are being answered, and open connections of gRPC.",
            ("sum(bailiff_rest_requests_in_flight{})", "REST requests"),
            ("sum(bailiff_grpc_connections{})", "gRPC connections"),
        ),
        panel(
            "Refused by HTTP ports",
            "Connections and requests that were cut before an answer, by reason.",
            rate("bailiff_http_refused_total{}", "reason"),
            unit="ops",
        ),
        panel(
            "gRPC connections ended",
            "Connections that the server has refused or ended, by reason.",
            rate("bailiff_grpc_connections_ended_total{}", "reason"),
            unit="ops",
        ),
        panel(
            "Who asks",
            "unavailable: the API server does not tell who asks.",
            rate("bailiff_authentication_total{}", "outcome"),
            unit="ops",
        ),
        panel(
            "Callers not let in",
            "By reason.",
            rate("bailiff_access_refused_total{}", "reason"),
            unit="ops",
        ),
        panel(
            "Reviews",
            "Questions to the API server about callers, and answers that were used again.",
            rate("bailiff_access_reviews_total{}", "review", "outcome"),
            (rate("bailiff_access_kept_answers_total{}", "review")[0], "{{review}} kept"),
            unit="ops",
        ),
        panel(
            "Streams of gRPC",
            "Streams of requests that have ended, by code.",
            rate("bailiff_grpc_streams_total{}", "code"),
            unit="ops",
        ),
    ),
)

_OURS = '{name=~".*[.]bailiff[.]dev"}'
_FAILED = '{name=~".*[.]bailiff[.]dev",error_type!="no_error"}'

WEBHOOKS = Row(
    "Webhooks",
    (
        panel(
            "Reviews",
            "late and failed: Bailiff had no answer. other: the request was not for the hook.",
            rate("bailiff_admission_requests_total{}", "hook", "result"),
            unit="reqps",
        ),
        panel(
            "Duration of reviews",
            "The API server waits for each answer, up to the timeout of the webhook.",
            quantile(0.99, "bailiff_admission_request_duration_seconds", "hook"),
            unit="s",
        ),
        panel(
            "Not reached",
            "Told by the API server, for all releases. Such requests pass, or are refused.",
            (
                rate(f"apiserver_admission_webhook_fail_open_count{_OURS}", "name")[0],
                "{{name}} passed",
            ),
            (
                rate(f"apiserver_admission_webhook_rejection_count{_FAILED}", "name")[0],
                "{{name}} refused",
            ),
            unit="ops",
        ),
    ),
)

_EXPIRY = "bailiff_tls_certificate_expiry_timestamp_seconds{}"

FILES = Row(
    "Certificates and policies",
    (
        panel(
            "Certificates expire in",
            "A certificate that nobody renews falls to 0.",
            (f"min by (pod) ({_EXPIRY} - time())", "{{pod}}"),
            unit="s",
        ),
        panel(
            "Certificate is current",
            "0: the process cannot use the new certificate, and serves the old one.",
            ("min by (pod) (bailiff_tls_certificate_current{})", "{{pod}}"),
        ),
        panel(
            "Certificates read",
            "failed: the process keeps the certificate that it has.",
            rate("bailiff_tls_reloads_total{}", "result"),
            unit="ops",
        ),
        panel(
            "Policies are current",
            "0: the process cannot use the new file, and the old policies stay in force.",
            ("min by (pod) (bailiff_worker_policies_current{})", "{{pod}}"),
        ),
        panel(
            "Processes by policies",
            "All processes have the same hash, but for a minute after a change.",
            ("count by (hash) (bailiff_worker_policies_info{})", "{{hash}}"),
        ),
        panel(
            "Policies read and weakened",
            "weakened: the policies bind the worker less than before, or a pause was deleted.",
            rate("bailiff_worker_policy_reloads_total{}", "result"),
            (rate("bailiff_worker_policy_weakenings_total{}", "what")[0], "weakened {{what}}"),
            unit="ops",
        ),
    ),
)
