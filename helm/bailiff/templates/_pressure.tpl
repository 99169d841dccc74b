{{/* What the pressure mode of the worker mounts: thresholds, and what is shown to kubelets. */}}
{{- define "bailiff.pressure.volumes" -}}
{{- $pressure := .Values.worker.pressure }}
{{- if $pressure.enabled }}
{{- if or $pressure.thresholds $pressure.extensions }}
- name: pressure
  configMap:
    name: {{ include "bailiff.component" (list . "worker") }}-pressure
    items:
      {{- if $pressure.thresholds }}
      - key: kubelet.yaml
        path: kubelet.yaml
      {{- end }}
      {{- if $pressure.extensions }}
      - key: extensions.yaml
        path: extensions.yaml
      {{- end }}
{{- end }}
{{- with $pressure.kubelets.caSecretName }}
- name: kubelet-ca
  secret:
    secretName: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- with $pressure.kubelets.clientCertificateSecretName }}
- name: kubelet-client
  secret:
    secretName: {{ . }}
    items:
      - key: tls.crt
        path: tls.crt
      - key: tls.key
        path: tls.key
{{- end }}
{{- end }}
{{- end }}

{{- define "bailiff.pressure.volumeMounts" -}}
{{- $pressure := .Values.worker.pressure }}
{{- if $pressure.enabled }}
{{- if or $pressure.thresholds $pressure.extensions }}
- name: pressure
  mountPath: /etc/bailiff-pressure
  readOnly: true
{{- end }}
{{- if $pressure.kubelets.caSecretName }}
- name: kubelet-ca
  mountPath: /etc/bailiff-kubelet-ca
  readOnly: true
{{- end }}
{{- if $pressure.kubelets.clientCertificateSecretName }}
- name: kubelet-client
  mountPath: /etc/bailiff-kubelet-client
  readOnly: true
{{- end }}
{{- end }}
{{- end }}
