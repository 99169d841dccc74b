{{/* By which names a component's Service is called from within the cluster. */}}
{{- define "bailiff.serviceNames" -}}
{{- $name := include "bailiff.component" . }}
{{- $namespace := (index . 0).Release.Namespace }}
- {{ printf "%s.%s.svc" $name $namespace }}
- {{ printf "%s.%s.svc.%s" $name $namespace (index . 0).Values.clusterDomain }}
- {{ printf "%s.%s" $name $namespace }}
- {{ $name }}
{{- end }}

{{/* A rotated one is no helm-made one: an upgrade would put that back in its place. */}}
{{- define "bailiff.tlsSecret" -}}
{{- $suffix := ternary "certificate" "tls" (include "bailiff.tls.rotates" . | not | not) }}
{{- default (printf "%s-%s" (include "bailiff.fullname" .) $suffix) .Values.tls.secretName }}
{{- end }}

{{/* Something, where the Job and the CronJob make the certificate. */}}
{{- define "bailiff.tls.rotates" -}}
{{- $tls := .Values.tls }}
{{- if and $tls.rotation.enabled (or .Values.api.enabled .Values.worker.enabled) }}yes{{ end }}
{{- end }}

{{/* Of two who would write the certificate one writes what nobody serves; and somebody has to sign it. */}}
{{- define "bailiff.tls.check" -}}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.certManager.issuerRef.name) }}
{{- fail "tls.certManager.enabled needs tls.certManager.issuerRef.name: who is to sign the certificate" }}
{{- end }}
{{- if .Values.tls.rotation.enabled }}
{{- if not .Values.tls.enabled }}
{{- fail "tls.rotation.enabled needs tls.enabled: without TLS there is no certificate to replace" }}
{{- end }}
{{- if .Values.tls.certManager.enabled }}
{{- fail "tls.rotation.enabled does not go with tls.certManager.enabled: cert-manager replaces its certificates itself" }}
{{- end }}
{{- if .Values.tls.secretName }}
{{- fail "tls.rotation.enabled does not go with tls.secretName, a certificate of your own, which the chart never writes: take one of the two away" }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The certificate that helm makes: `data` of the Secret, and whether it is new; made once in a rendering.
Once made it is kept for as long as it is to have the same names: only a cluster that can be asked tells
what there is.
*/}}
{{- define "bailiff.tls.made" -}}
{{- if not (hasKey .Values "madeCertificate") }}
{{- $name := include "bailiff.tlsSecret" . }}
{{- $names := include "bailiff.tlsNames" . | fromYamlArray }}
{{- $checksum := $names | sortAlpha | join "," | sha256sum }}
{{- $found := default dict (lookup "v1" "Secret" .Release.Namespace $name) }}
{{- $data := default dict $found.data }}
{{- $same := eq $checksum (dig "metadata" "annotations" "bailiff.dev/names-checksum" "" $found) }}
{{- $isNew := not (and $same (hasKey $data "tls.crt") (hasKey $data "tls.key") (hasKey $data "ca.crt")) }}
{{- if $isNew }}
{{- $days := int .Values.tls.days }}
{{- $ca := genCA (printf "%s-ca" $name) $days }}
{{- $made := genSignedCert (first $names) nil $names $days $ca }}
{{- $data = dict "tls.crt" ($made.Cert | b64enc) "tls.key" ($made.Key | b64enc) "ca.crt" ($ca.Cert | b64enc) }}
{{- end }}
{{- $_ := set .Values "madeCertificate" (dict "data" $data "isNew" $isNew "checksum" $checksum) }}
{{- end }}
{{- toJson .Values.madeCertificate }}
{{- end }}

{{- define "bailiff.tlsNames" -}}
{{- if .Values.api.enabled }}
{{ include "bailiff.serviceNames" (list . "api") }}
{{- range .Values.api.allowedHosts }}
- {{ . | quote }}
{{- end }}
{{- end }}
{{- if .Values.worker.enabled }}
{{ include "bailiff.serviceNames" (list . "worker") }}
{{- end }}
- localhost
{{- end }}

{{/* Something, where callers are asked who they are. */}}
{{- define "bailiff.asksWho" -}}
{{- if or .Values.authentication.tokenReview.enabled .Values.authentication.clientCA.secretName }}yes{{ end }}
{{- end }}

{{/* Something, where the API asks the cluster anything. */}}
{{- define "bailiff.api.usesCluster" -}}
{{- if or .Values.api.readCluster .Values.authentication.tokenReview.enabled (include "bailiff.webhooks.on" .) }}yes{{ end }}
{{- end }}

{{/* Files of both pods. Each by its key: of what else stands in a Secret nothing is mounted. */}}
{{- define "bailiff.volumes" -}}
{{- if .Values.tls.enabled }}
- name: tls
  secret:
    secretName: {{ include "bailiff.tlsSecret" . }}
    items:
      - key: tls.crt
        path: tls.crt
      - key: tls.key
        path: tls.key
{{- end }}
{{- with .Values.authentication.clientCA.secretName }}
- name: client-ca
  secret:
    secretName: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- end }}

{{/* The folders: a file mounted by subPath never changes. */}}
{{- define "bailiff.volumeMounts" -}}
{{- if .Values.tls.enabled }}
- name: tls
  mountPath: /etc/bailiff-tls
  readOnly: true
{{- end }}
{{- if .Values.authentication.clientCA.secretName }}
- name: client-ca
  mountPath: /etc/bailiff-client-ca
  readOnly: true
{{- end }}
{{- end }}

{{/* How the Prometheus operator is to scrape a component. */}}
{{- define "bailiff.scrape" -}}
{{- $root := index . 0 -}}
path: /metrics
interval: {{ $root.Values.serviceMonitor.interval }}
{{- if $root.Values.tls.enabled }}
scheme: https
tlsConfig:
  serverName: {{ include "bailiff.serviceNames" . | fromYamlArray | first }}
  ca:
    secret:
      name: {{ include "bailiff.tlsSecret" $root }}
      key: ca.crt
{{- with $root.Values.serviceMonitor.clientCertSecret }}
{{- if .name }}
  cert:
    secret:
      name: {{ .name }}
      key: {{ .cert }}
  keySecret:
    name: {{ .name }}
    key: {{ .key }}
{{- else if and $root.Values.authentication.clientCA.secretName (not $root.Values.authentication.tokenReview.enabled) }}
{{- fail "serviceMonitor needs serviceMonitor.clientCertSecret.name: without authentication.tokenReview callers, Prometheus too, are known by certificates alone" }}
{{- end }}
{{- end }}
{{- end }}
{{- if $root.Values.authentication.tokenReview.enabled }}
{{- with $root.Values.serviceMonitor.tokenSecret }}
{{- if .name }}
authorization:
  type: Bearer
  credentials:
    name: {{ .name }}
    key: {{ .key }}
{{- else }}
bearerTokenFile: {{ $root.Values.serviceMonitor.bearerTokenFile }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* How a person asks over a forwarded port: (list . PORT PATH). */}}
{{- define "bailiff.curl" -}}
{{- $root := index . 0 -}}
{{- $access := $root.Values.authentication -}}
curl -s{{ if $root.Values.tls.enabled }} --cacert ca.crt{{ end }}
{{- if $access.tokenReview.enabled }} -H "Authorization: Bearer $TOKEN"
{{- else if $access.clientCA.secretName }} --cert me.crt --key me.key
{{- end }} {{ ternary "https://localhost" "http://127.0.0.1" $root.Values.tls.enabled }}:{{ index . 1 }}{{ index . 2 }}
{{- end }}

{{/* Tokens of callers are reviewed, and what they may see: TokenReview, SubjectAccessReview. */}}
{{- define "bailiff.delegation" -}}
{{- $root := index . 0 -}}
{{- if $root.Values.authentication.tokenReview.enabled }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "bailiff.clusterwide" . }}-auth-delegator
  labels:
    {{- include "bailiff.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:auth-delegator
subjects:
  - kind: ServiceAccount
    name: {{ include "bailiff.serviceAccount" . }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end }}
