{{/* What the agent is told: each option by its name in the environment. */}}
{{- define "bailiff.agent.settings" -}}
{{- $agent := .Values.agent -}}
BAILIFF_IN_CLUSTER: "true"
BAILIFF_HOST: {{ .Values.listenAddress | quote }}
BAILIFF_STATUS_PORT: "8084"
BAILIFF_HOST_ROOT: /host
BAILIFF_KUBELET_DIR: {{ $agent.paths.kubelet | quote }}
BAILIFF_IMAGE_DIR: {{ $agent.paths.images | quote }}
BAILIFF_POD_LOGS_DIR: {{ $agent.paths.podLogs | quote }}
BAILIFF_STATE_FILE: /var/lib/bailiff/state.json
{{- if eq $agent.mode "dryRun" }}
BAILIFF_DRY_RUN: "true"
{{- else if eq $agent.mode "shadow" }}
BAILIFF_SHADOW: "true"
{{- end }}
{{- if $agent.thresholds }}
BAILIFF_PRESSURE_CONFIG: /etc/bailiff-agent/kubelet.yaml
{{- end }}
{{- if $agent.extensions }}
BAILIFF_PRESSURE_EXTENSIONS: /etc/bailiff-agent/extensions.yaml
{{- end }}
BAILIFF_PRESSURE_CONDITIONS: {{ $agent.conditions | quote }}
BAILIFF_PRESSURE_KEEP_PODS: {{ $agent.keepPods | quote }}
BAILIFF_MEMORY_HIGH_MARK: {{ $agent.memoryHighMark | quote }}
{{- if $agent.kubelet.enabled }}
BAILIFF_KUBELET: https://$(HOST_IP):{{ $agent.kubelet.port }}
{{- end }}
{{- if and $agent.runtime.enabled $agent.root }}
BAILIFF_RUNTIME: /host{{ $agent.runtime.socket }}
BAILIFF_STOP_CONTAINERS: {{ $agent.runtime.stopContainers | quote }}
{{- end }}
{{ include "bailiff.tracing.settings" (list . "agent") }}
BAILIFF_LOG_FORMAT: {{ .Values.logs.format | quote }}
BAILIFF_LOG_LEVEL: {{ .Values.logs.level | quote }}
{{- end }}
