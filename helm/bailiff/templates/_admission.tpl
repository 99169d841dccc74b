{{/*
Something, where ValidatingAdmissionPolicies are to be there. A server that can be asked says whether
it serves them; helm template asks none, and there they are rendered: since Kubernetes 1.30 they are
served unless switched off.
*/}}
{{- define "bailiff.admits" -}}
{{- if and .Values.worker.enabled (include "bailiff.admits.served" .) }}yes{{ end }}
{{- end }}

{{- define "bailiff.admits.served" -}}
{{- $versions := .Capabilities.APIVersions }}
{{- $asked := $versions.Has "v1/Pod" }}
{{- $served := $versions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" }}
{{- if and .Values.admissionPolicies.enabled (or $served (not $asked)) }}yes{{ end }}
{{- end }}

{{/*
A ValidatingAdmissionPolicy, to the end of its metadata, and its binding: (list . "worker" SUFFIX).
*/}}
{{- define "bailiff.admission" -}}
{{- $name := printf "%s-%s" (include "bailiff.clusterwide" .) (index . 2) }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "bailiff.labels" . | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny, Audit]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "bailiff.labels" . | nindent 4 }}
{{- end }}

{{/* The condition that a request is the worker's. */}}
{{- define "bailiff.admission.worker" -}}
- name: by-the-worker
  expression: request.userInfo.username == 'system:serviceaccount:{{ (index . 0).Release.Namespace }}:{{ include "bailiff.serviceAccount" . }}'
{{- end }}

{{/* Of an object's metadata nothing is another; what the API server itself keeps aside. */}}
{{- define "bailiff.admission.metadata" -}}
- message: {{ printf "bailiff's worker may not change the metadata of %s" . }}
  expression: >-
    dyn(object.metadata).all(key, key in variables.kept ||
      (key in dyn(oldObject.metadata) && dyn(object.metadata)[key] == dyn(oldObject.metadata)[key])) &&
    dyn(oldObject.metadata).all(key, key in variables.kept || key in dyn(object.metadata))
{{- end }}

{{/*
Of the conditions of a status none of another type than $type is another, nor is one taken away; of the
status nothing else is another, unless the pod `ends`, and Ready where it may become `unready`: what those mean is checked elsewhere.
*/}}
{{- define "bailiff.admission.conditions" -}}
{{- $keys := default false .ends | ternary (list "conditions" "phase" "reason" "message") (list "conditions") | toJson | replace "\"" "'" }}
- message: {{ printf "bailiff's worker may write into the status of %s only the condition %s" .of .type }}
  expression: >-
    dyn(variables.after).all(key, key in {{ $keys }} ||
      (key in variables.before && variables.after[key] == variables.before[key])) &&
    dyn(variables.before).all(key, key in variables.after)
{{- $free := default false .unready | ternary (list .type "Ready") (list .type) | toJson | replace "\"" "'" }}
- message: {{ printf "bailiff's worker may change no condition of %s but %s" .of .type }}
  expression: >-
    variables.conditionsAfter.filter(one, !(one.type in {{ $free }})) ==
    variables.conditionsBefore.filter(one, !(one.type in {{ $free }}))
{{- if .unready }}
- message: {{ printf "bailiff's worker may not remove the condition Ready of %s, nor write it twice" .of }}
  expression: >-
    variables.conditionsAfter.filter(one, one.type == 'Ready').size() ==
    variables.conditionsBefore.filter(one, one.type == 'Ready').size()
{{- end }}
- message: {{ printf "bailiff's worker may not remove the condition %s, nor write it twice" .type }}
  expression: >-
    variables.conditionsAfter.filter(one, one.type == '{{ .type }}').size() == 1 ||
    variables.conditionsAfter.filter(one, one.type == '{{ .type }}') ==
    variables.conditionsBefore.filter(one, one.type == '{{ .type }}')
{{- end }}

{{- define "bailiff.admission.status" -}}
- name: before
  expression: "has(oldObject.status) ? dyn(oldObject.status) : dyn({})"
- name: after
  expression: "has(object.status) ? dyn(object.status) : dyn({})"
- name: conditionsBefore
  expression: "'conditions' in variables.before ? variables.before.conditions : dyn([])"
- name: conditionsAfter
  expression: "'conditions' in variables.after ? variables.after.conditions : dyn([])"
{{- end }}
