{{/* What the node-loss mode of the worker mounts: how machines are asked, and what is shown to them. */}}
{{- define "bailiff.nodeLoss.fences" -}}
{{- with .Values.worker.nodeLoss }}
{{- if and .enabled .fence.secretName }}yes{{ end }}
{{- end }}
{{- end }}

{{- define "bailiff.nodeLoss.volumes" -}}
{{- if include "bailiff.nodeLoss.fences" . }}
- name: fence
  secret:
    secretName: {{ .Values.worker.nodeLoss.fence.secretName }}
{{- end }}
{{- end }}

{{- define "bailiff.nodeLoss.volumeMounts" -}}
{{- if include "bailiff.nodeLoss.fences" . }}
- name: fence
  mountPath: /etc/bailiff-fence
  readOnly: true
{{- end }}
{{- end }}
