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
    items:
      {{- range prepend .Values.worker.nodeLoss.fence.files "fence.yaml" }}
      - key: {{ . }}
        path: {{ . }}
      {{- end }}
{{- end }}
{{- end }}

{{- define "bailiff.nodeLoss.volumeMounts" -}}
{{- if include "bailiff.nodeLoss.fences" . }}
- name: fence
  mountPath: /etc/bailiff-fence
  readOnly: true
{{- end }}
{{- end }}

{{/* The right to see the Leases by which kubelets say that they live: (list . "worker" VERBS). */}}
{{- define "bailiff.nodeLeases" -}}
{{- $root := index . 0 }}
{{- $name := printf "%s-node-leases" (include "bailiff.clusterwide" .) -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}
  namespace: kube-node-lease
  labels:
    {{- include "bailiff.labels" . | nindent 4 }}
rules:
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [{{ join ", " (index . 2) }}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: kube-node-lease
  labels:
    {{- include "bailiff.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "bailiff.serviceAccount" . }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
