{{- define "bailiff.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* 40 characters leave room for what is put behind it: names of pods are labels. */}}
{{- define "bailiff.fullname" -}}
{{- $name := include "bailiff.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Below, arguments are (list . "api") or (list . "worker"). */}}
{{- define "bailiff.component" -}}
{{- printf "%s-%s" (include "bailiff.fullname" (index . 0)) (index . 1) }}
{{- end }}

{{/* Names of cluster-wide objects: two releases of one name in two namespaces must not meet. */}}
{{- define "bailiff.clusterwide" -}}
{{- printf "%s-%s" (index . 0).Release.Namespace (include "bailiff.component" .) }}
{{- end }}

{{- define "bailiff.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "bailiff.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "bailiff.labels" -}}
{{- $root := index . 0 -}}
{{ include "bailiff.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "bailiff.serviceAccount" -}}
{{- $account := (index (index . 0).Values (index . 1)).serviceAccount }}
{{- $own := ternary (include "bailiff.component" .) "default" $account.create }}
{{- default $own $account.name }}
{{- end }}

{{- define "bailiff.image" -}}
{{- $image := .Values.image }}
{{- if $image.digest }}
{{- printf "%s@%s" $image.repository $image.digest }}
{{- else }}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) }}
{{- end }}
{{- end }}

{{/* The Lease of each shard. */}}
{{- define "bailiff.leases" -}}
{{- range $shard := until (int .Values.worker.shards) }}
- {{ include "bailiff.component" (list $ "worker") }}-{{ $shard }}-of-{{ $.Values.worker.shards }}
{{- end }}
{{- end }}

{{- define "bailiff.commonSettings" -}}
BAILIFF_HOST: {{ .Values.listenAddress | quote }}
BAILIFF_HEALTH_PORT: "8082"
{{- if .Values.tls.enabled }}
BAILIFF_TLS_CERT_FILE: /etc/bailiff-tls/tls.crt
BAILIFF_TLS_PRIVATE_KEY_FILE: /etc/bailiff-tls/tls.key
{{- end }}
{{- if .Values.authentication.clientCA.secretName }}
{{- if not .Values.tls.enabled }}
{{- fail "authentication.clientCA needs tls.enabled: certificates of callers are shown in TLS" }}
{{- end }}
BAILIFF_CLIENT_CA_FILE: /etc/bailiff-client-ca/ca.crt
{{- end }}
{{- if .Values.authentication.tokenReview.enabled }}
BAILIFF_AUTHENTICATION_TOKEN_WEBHOOK: "true"
{{- end }}
{{- if not (include "bailiff.asksWho" .) }}
BAILIFF_INSECURE: "true"
{{- end }}
BAILIFF_COMPARISON_OPERATORS: {{ .Values.decisions.comparisonOperators | quote }}
BAILIFF_EVICT_ENDED_PODS: {{ .Values.decisions.evictEndedPods | quote }}
BAILIFF_EXTENDED_RESOURCE_CLAIMS: {{ .Values.decisions.extendedResourceClaims | quote }}
BAILIFF_POD_GROUP_CLAIMS: {{ .Values.decisions.podGroupClaims | quote }}
BAILIFF_LOG_FORMAT: {{ .Values.logs.format | quote }}
BAILIFF_LOG_LEVEL: {{ .Values.logs.level | quote }}
{{- end }}

{{- define "bailiff.api.settings" -}}
{{ include "bailiff.commonSettings" . }}
{{ include "bailiff.tracing.settings" (list . "api") }}
BAILIFF_IN_CLUSTER: {{ include "bailiff.api.usesCluster" . | not | not | quote }}
BAILIFF_ALLOWED_HOSTS: {{ concat (include "bailiff.serviceNames" (list . "api") | fromYamlArray) .Values.api.allowedHosts | join "," | quote }}
{{- with .Values.api.trustedProxies }}
BAILIFF_TRUSTED_PROXIES: {{ join "," . | quote }}
{{- end }}
BAILIFF_DEVICE_TAINT_EVICTION: {{ .Values.api.deviceTaintEviction.enabled | quote }}
BAILIFF_PRESSURE_LOOK_UPS: {{ and .Values.api.readCluster .Values.api.pressureLookUps.enabled | quote }}
BAILIFF_NODE_LOSS_LOOK_UPS: {{ and .Values.api.readCluster .Values.api.nodeLossLookUps.enabled | quote }}
BAILIFF_REST_PORT: "8080"
BAILIFF_GRPC_PORT: "9090"
{{- if include "bailiff.webhooks.on" . }}
{{ include "bailiff.webhooks.settings" . }}
{{- end }}
{{- end }}

{{- define "bailiff.worker.settings" -}}
{{ include "bailiff.commonSettings" . }}
{{ include "bailiff.tracing.settings" (list . "worker") }}
BAILIFF_IN_CLUSTER: "true"
BAILIFF_ALLOWED_HOSTS: {{ include "bailiff.serviceNames" (list . "worker") | fromYamlArray | join "," | quote }}
BAILIFF_STATUS_PORT: "8081"
BAILIFF_LEADER_ELECT: "true"
BAILIFF_LEASE_NAMESPACE: {{ .Release.Namespace | quote }}
BAILIFF_LEASE_NAME: {{ include "bailiff.component" (list . "worker") | quote }}
BAILIFF_DEVICE_TAINT_EVICTION: {{ .Values.worker.deviceTaintEviction.enabled | quote }}
BAILIFF_SHARDS: {{ .Values.worker.shards | quote }}
BAILIFF_POLICIES: /etc/bailiff/policies.yaml
{{- with .Values.worker.pressure }}
{{- if .enabled }}
BAILIFF_PRESSURE: "true"
{{- $labels := list }}
{{- range $key, $value := .nodeSelector }}
{{- $labels = append $labels (printf "%s=%s" $key $value) }}
{{- end }}
{{- with $labels }}
BAILIFF_PRESSURE_NODE_SELECTOR: {{ join "," . | quote }}
{{- end }}
{{- if .thresholds }}
BAILIFF_PRESSURE_CONFIG: /etc/bailiff-pressure/kubelet.yaml
{{- end }}
{{- if .extensions }}
BAILIFF_PRESSURE_EXTENSIONS: /etc/bailiff-pressure/extensions.yaml
{{- end }}
BAILIFF_PRESSURE_INTERVAL: {{ .interval | quote }}
BAILIFF_PRESSURE_STALE_AFTER: {{ .staleAfter | quote }}
{{- if .layout }}
BAILIFF_PRESSURE_LAYOUT: {{ .layout | quote }}
{{- end }}
BAILIFF_PRESSURE_KEEP_PODS: {{ .keepPods | quote }}
BAILIFF_PRESSURE_HARD_OVERRIDES_POLICIES: {{ .hardOverridesPolicies | quote }}
BAILIFF_PRESSURE_CONDITIONS: {{ .conditions | quote }}
BAILIFF_KUBELET_VIA_API_SERVER: {{ .kubelets.viaApiServer | quote }}
{{- if and .kubelets.insecureTLS (not .kubelets.clientCertificateSecretName) }}
{{- fail "worker.pressure.kubelets.insecureTLS needs worker.pressure.kubelets.clientCertificateSecretName: the worker's token is not shown to kubelets whose certificates are not checked" }}
{{- end }}
BAILIFF_KUBELET_INSECURE_TLS: {{ .kubelets.insecureTLS | quote }}
{{- if .kubelets.caSecretName }}
BAILIFF_KUBELET_CERTIFICATE_AUTHORITY: /etc/bailiff-kubelet-ca/ca.crt
{{- end }}
{{- if .kubelets.clientCertificateSecretName }}
BAILIFF_KUBELET_CLIENT_CERTIFICATE: /etc/bailiff-kubelet-client/tls.crt
BAILIFF_KUBELET_CLIENT_KEY: /etc/bailiff-kubelet-client/tls.key
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.worker.nodeLoss }}
{{- if .enabled }}
BAILIFF_NODE_LOSS: "true"
BAILIFF_NODE_LOSS_AFTER: {{ .after | quote }}
BAILIFF_NODE_LOSS_SILENT_AFTER: {{ .silentAfter | quote }}
BAILIFF_NODE_LOSS_RATE: {{ .rate | quote }}
BAILIFF_NODE_LOSS_REDUCED_RATE: {{ .reducedRate | quote }}
BAILIFF_NODE_LOSS_LARGE_ZONE: {{ .largeZone | quote }}
BAILIFF_NODE_LOSS_UNHEALTHY_FRACTION: {{ .unhealthyFraction | quote }}
BAILIFF_NODE_LOSS_LOST_ZONE: {{ .lostZone | quote }}
BAILIFF_NODE_LOSS_REASON: {{ .reason | quote }}
BAILIFF_NODE_LOSS_BESIDE_TAINTS: {{ .besideTaints | quote }}
BAILIFF_NODE_LOSS_FORCES: {{ .forces | quote }}
BAILIFF_NODE_LOSS_MARK_NOT_READY: {{ .markNotReady | quote }}
{{- if and .fence.taint (not .fence.secretName) }}
{{- fail "worker.nodeLoss.fence.taint needs worker.nodeLoss.fence.secretName: nobody says which machines are off" }}
{{- end }}
{{- if .fence.secretName }}
BAILIFF_NODE_LOSS_FENCE: /etc/bailiff-fence/fence.yaml
BAILIFF_NODE_LOSS_TAINT_FENCED: {{ .fence.taint | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Whether the worker evicts (yes, no, unknown) and why not, and whether it is a shadow; as YAML. Options can
only switch on; of a variable that is set twice the last counts, and an empty one is as none. */}}
{{- define "bailiff.worker.mode" -}}
{{- $variables := dict }}
{{- range .Values.worker.extraEnv }}
{{- $_ := set $variables .name . }}
{{- end }}
{{- $mode := dict "evicts" "yes" }}
{{- range $option, $name := dict "--dry-run" "BAILIFF_DRY_RUN" "--shadow" "BAILIFF_SHADOW" }}
{{- $variable := get $variables $name | default dict }}
{{- $value := get $variable "value" | trim | lower }}
{{- $found := "" }}
{{- if has $option $.Values.worker.extraArgs }}
{{- $found = "no" }}
{{- $_ := set $mode "why" (printf "%s in worker.extraArgs" $option) }}
{{- else if has $value (list "1" "true" "t" "yes" "y" "on") }}
{{- $found = "no" }}
{{- $_ := set $mode "why" (printf "%s in worker.extraEnv" $name) }}
{{- else if and (ne $mode.evicts "no") (or (hasKey $variable "valueFrom") (not (has $value (list "" "0" "false" "f" "no" "n" "off")))) }}
{{- $found = "unknown" }}
{{- $_ := set $mode "why" (printf "%s in worker.extraEnv" $name) }}
{{- end }}
{{- if $found }}
{{- $_ := set $mode "evicts" $found }}
{{- if and (eq $option "--shadow") (eq $found "no") }}
{{- $_ := set $mode "shadow" true }}
{{- end }}
{{- end }}
{{- end }}
{{- toYaml $mode }}
{{- end }}

{{/* What both pods' metadata have. */}}
{{- define "bailiff.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (index . 1) -}}
labels:
  {{- include "bailiff.selector" . | nindent 2 }}
  {{- with mergeOverwrite (deepCopy $root.Values.labels) $own.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $annotations := deepCopy $own.podAnnotations }}
{{- if eq (index . 1) "worker" }}
{{- with $own.pressure }}
{{- if and .enabled (or .thresholds .extensions) }}
{{- /* The files are read once, when a worker starts: so other ones are other pods. */}}
{{- $told := list .thresholds .extensions | toJson | sha256sum }}
{{- $_ := set $annotations "bailiff.dev/pressure-checksum" $told }}
{{- end }}
{{- end }}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What both pods' specs have. */}}
{{- define "bailiff.podSpec" -}}
{{- $args := . -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (index . 1) -}}
serviceAccountName: {{ include "bailiff.serviceAccount" . }}
# A Service named bailiff-rest would set BAILIFF_REST_PORT to its URL.
enableServiceLinks: false
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | indent 4 | trim }}
    labelSelector:
      matchLabels:
        {{- include "bailiff.selector" $args | nindent 8 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* What both containers have. */}}
{{- define "bailiff.container" -}}
{{- $args := . -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (index . 1) -}}
image: {{ include "bailiff.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
# -I: variables such as PYTHONPATH add no code. It leaves the one for unbuffered output aside, too,
# hence -u.
command: [/opt/bailiff/bin/python, -I, -u, -m, bailiff]
args:
  - {{ index . 2 }}
  {{- range $own.extraArgs }}
  - {{ . | quote }}
  {{- end }}
# Each by its name, and none by way of a ConfigMap, which others might add to.
env:
  {{- $replaced := dict }}
  {{- range $own.extraEnv }}
  {{- if regexMatch "^(PYTHON|LD_|OPENSSL_|GCONV_|GLIBC_|MALLOC_)" .name }}
  {{- fail (printf "%s.extraEnv: %s brings code into the process and is refused" (index $args 1) .name) }}
  {{- end }}
  {{- $_ := set $replaced .name true }}
  {{- end }}
  {{- range $name, $value := include (printf "bailiff.%s.settings" (index . 1)) $root | fromYaml }}
  {{- if not (hasKey $replaced $name) }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  {{- end }}
  {{- with include "bailiff.tracing.secret" (list $root $replaced) }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $own.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
# On a port of their own, which no load on the others reaches.
startupProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  timeoutSeconds: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 3
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml $own.resources | nindent 2 }}
{{- end }}

{{/* The Kubernetes API server. In a pod it is known by address, so no DNS. */}}
{{- define "bailiff.egress" -}}
- ports:
    {{- range .Values.networkPolicy.apiServerPorts }}
    - port: {{ . }}
    {{- end }}
{{- end }}

{{/* The collector of traces, and the DNS that knows it by name; nothing where there is none. */}}
{{- define "bailiff.tracing.egress" -}}
{{- with .Values.tracing.endpoint }}
{{- $host := (urlParse .).host }}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" }}
- ports:
    - port: {{ default (ternary 443 80 (hasPrefix "https:" .)) (int $port) }}
  {{- with $.Values.networkPolicy.collectors }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
- ports:
    - port: 53
      protocol: UDP
    - port: 53
      protocol: TCP
{{- end }}
{{- end }}

{{/* Where traces go, of a component; nothing where there is no collector. */}}
{{- define "bailiff.tracing.settings" -}}
{{- $component := index . 1 }}
{{- with (index . 0).Values.tracing }}
{{- if .endpoint }}
BAILIFF_TRACING_ENDPOINT: {{ .endpoint | quote }}
BAILIFF_TRACING_SAMPLING_RATE_PER_MILLION: {{ get .samplingRatePerMillion $component | int | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* What the collector is shown, which stands in no manifest; (list . VARIABLES), which count before it. */}}
{{- define "bailiff.tracing.secret" -}}
{{- $replaced := index . 1 }}
{{- with (index . 0).Values.tracing }}
{{- if and .endpoint .headersSecret.name (not (hasKey $replaced "OTEL_EXPORTER_OTLP_HEADERS")) }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom:
    secretKeyRef:
      name: {{ .headersSecret.name }}
      key: {{ .headersSecret.key }}
{{- end }}
{{- end }}
{{- end }}

{{/* The policies, as a file of a pod. */}}
{{- define "bailiff.policiesVolume" -}}
- name: policies
  configMap:
    name: {{ include "bailiff.component" (list . "worker") }}-policies
    # What else stands in the ConfigMap is not mounted.
    items:
      - key: policies.yaml
        path: policies.yaml
{{- end }}
