{{/* What the pressure mode of the worker mounts: thresholds, and what is shown to kubelets. */}}
{{- define "bailiff.pressure.volumes" -}}
{{- $pressure := .Values.worker.pressure }}
{{- if $pressure.enabled }}
{{- if $pressure.thresholds }}
- name: pressure
  configMap:
    name: {{ include "bailiff.component" (list . "worker") }}-pressure
    items:
      - key: kubelet.yaml
        path: kubelet.yaml
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
{{- if $pressure.thresholds }}
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
