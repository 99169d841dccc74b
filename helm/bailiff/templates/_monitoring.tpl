{{/* Which groups of monitoring/rules.yaml are about parts that are on. */}}
{{- define "bailiff.monitoring.on" -}}
{{- $worker := .Values.worker }}
{{- $on := dict }}
{{- range list "leading" "watching" "evicting" }}
{{- $_ := set $on (printf "bailiff-%s" .) $worker.enabled }}
{{- end }}
{{- $_ := set $on "bailiff-standby" (and $worker.enabled (gt (int $worker.standbys) 0)) }}
{{- range list "holding" "policies" }}
{{- $_ := set $on (printf "bailiff-%s" .) (and $worker.enabled (not (empty $worker.policies))) }}
{{- end }}
{{- $pressure := and $worker.enabled $worker.pressure.enabled }}
{{- $_ := set $on "bailiff-devices" (and $worker.enabled $worker.deviceTaintEviction.enabled) }}
{{- $_ := set $on "bailiff-pressure" $pressure }}
{{- $_ := set $on "bailiff-evicted-for-pressure" (or $pressure .Values.agent.enabled) }}
{{- $_ := set $on "bailiff-node-loss" (and $worker.enabled $worker.nodeLoss.enabled) }}
{{- $_ := set $on "bailiff-agent" .Values.agent.enabled }}
{{- $_ := set $on "bailiff-certificates" (and .Values.tls.enabled (or .Values.api.enabled $worker.enabled)) }}
{{- $_ := set $on "bailiff-webhooks" (include "bailiff.webhooks.on" . | empty | not) }}
{{- $_ := set $on "bailiff-gate" (and .Values.api.enabled .Values.webhooks.validateEvictions.enabled) }}
{{- $_ := set $on "bailiff-api" .Values.api.enabled }}
{{- $_ := set $on "bailiff-tracing" (not (empty .Values.tracing.endpoint)) }}
{{- $_ := set $on "bailiff-access" (and .Values.api.enabled .Values.authentication.tokenReview.enabled) }}
{{- toYaml $on }}
{{- end }}

{{/*
A rule of monitoring/rules.yaml for this release: (list . RULE). The file is of a release named bailiff in the
namespace bailiff; jobs are what the operator makes of a ServiceMonitor and of a PodMonitor.
*/}}
{{- define "bailiff.monitoring.rule" -}}
{{- $root := index . 0 -}}
{{- $rule := deepCopy (index . 1) -}}
{{- $name := include "bailiff.fullname" $root }}
{{- $namespace := $root.Release.Namespace }}
{{- $expr := regexReplaceAll "bailiff-(api|worker)" $rule.expr (printf "%s-${1}" $name) }}
{{- $expr = $expr | replace "bailiff/bailiff-agent" (printf "%s/%s-agent" $namespace $name) }}
{{- $expr = $expr | replace "namespace=\"bailiff\"" (printf "namespace=%q" $namespace) }}
{{- $_ := set $rule "expr" $expr }}
{{- with $root.Values.monitoring.rules }}
{{- if .runbookUrl }}
{{- $page := $rule.annotations.runbook | base | trimSuffix ".md" }}
{{- $_ := set $rule.annotations "runbook_url" (print .runbookUrl $page .runbookSuffix) }}
{{- $_ := unset $rule.annotations "runbook" }}
{{- end }}
{{- end }}
{{- toYaml $rule }}
{{- end }}
