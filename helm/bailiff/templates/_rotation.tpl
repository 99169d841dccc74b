{{/* What the Job and the CronJob run: one look at the certificate, and what is due of it. */}}
{{- define "bailiff.rotation.pod" -}}
{{- $tls := list . "tls" }}
metadata:
  labels:
    {{- include "bailiff.selector" $tls | nindent 4 }}
    {{- with .Values.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "bailiff.component" $tls }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  restartPolicy: OnFailure
  securityContext:
    runAsNonRoot: true
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.api.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.api.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: renew
      image: {{ include "bailiff.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: [/opt/bailiff/bin/python, -I, -u, -m, bailiff]
      args:
        - certificates
        - renew
        - --in-cluster
        - --namespace={{ .Release.Namespace }}
        - --secret={{ include "bailiff.tlsSecret" . }}
        - --days={{ .Values.tls.rotation.days }}
        - --renew-before-days={{ .Values.tls.rotation.renewBeforeDays }}
        {{- range include "bailiff.tlsNames" . | fromYamlArray | uniq }}
        - --dns-name={{ . }}
        {{- end }}
        {{- range $kind, $option := dict "Mutating" "mutating" "Validating" "validating" }}
        {{- if include "bailiff.webhooks.configuration" (list $ $kind) | trim }}
        - --{{ $option }}-webhook-configuration={{ include "bailiff.clusterwide" (list $ "api") }}
        {{- end }}
        {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      resources:
        {{- toYaml .Values.tls.rotation.resources | nindent 8 }}
{{- end }}

{{- define "bailiff.rotation.job" -}}
# What fails is tried again by the kubelet; the next CronJob begins anew.
backoffLimit: 6
activeDeadlineSeconds: 600
template:
  {{- include "bailiff.rotation.pod" . | nindent 2 }}
{{- end }}
