{{/*
Each hook: where it is answered, which requests it is about, and the conditions that keep the others from
being sent at all. `system`: not of webhooks.excludedNamespaces either.
*/}}
{{- define "bailiff.webhooks.table" -}}
mutatePods:
  path: mutate/pods
  kind: Mutating
  namespaced: true
  system: true
  sideEffects: None
  rules:
    - {operations: [CREATE, UPDATE], apiGroups: [""], apiVersions: [v1], resources: [pods], scope: Namespaced}
  conditions:
    # Tolerations follow from the spec alone. What is on its way out needs none.
    - name: spec-changed
      expression: "request.operation == 'CREATE' || object.spec != oldObject.spec"
    - name: not-going
      expression: "!has(object.metadata.deletionTimestamp)"
validatePods:
  path: validate/pods
  kind: Validating
  namespaced: true
  system: true
  sideEffects: None
  rules:
    - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods], scope: Namespaced}
  conditions:
    # Of other pods the binding is looked at.
    - name: bound
      expression: "has(object.spec.nodeName) && object.spec.nodeName != ''"
    # A kubelet tells of a pod that runs already.
    - name: not-a-mirror
      expression: "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)"
validateBindings:
  path: validate/bindings
  kind: Validating
  namespaced: true
  system: true
  sideEffects: None
  rules:
    - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods/binding, bindings], scope: Namespaced}
  conditions: []
validateNodes:
  path: validate/nodes
  kind: Validating
  namespaced: false
  sideEffects: None
  rules:
    - {operations: [UPDATE], apiGroups: [""], apiVersions: [v1], resources: [nodes], scope: Cluster}
  conditions:
    # Not what kubelets write every few seconds.
    - name: taints-changed
      expression: >-
        (has(object.spec.taints) ? object.spec.taints : []) != (has(oldObject.spec.taints) ? oldObject.spec.taints : [])
    {{- with .Values.webhooks.validateNodes.excludedUsers }}
    - name: not-by-a-controller
      expression: "!(request.userInfo.username in {{ toJson . | replace "\"" "'" }})"
    {{- end }}
validateDeviceTaintRules:
  path: validate/devicetaintrules
  kind: Validating
  namespaced: false
  sideEffects: None
  rules:
    - {operations: [CREATE, UPDATE], apiGroups: [resource.k8s.io], apiVersions: [v1, v1beta2, v1alpha3], resources: [devicetaintrules], scope: Cluster}
  conditions:
    - name: evicts
      expression: "object.spec.taint.effect == 'NoExecute'"
    - name: spec-changed
      expression: "request.operation == 'CREATE' || object.spec != oldObject.spec"
validateResourceSlices:
  path: validate/resourceslices
  kind: Validating
  namespaced: false
  sideEffects: None
  rules:
    - {operations: [CREATE, UPDATE], apiGroups: [resource.k8s.io], apiVersions: [v1, v1beta2], resources: [resourceslices], scope: Cluster}
  conditions:
    - name: evicts
      expression: >-
        has(object.spec.devices) && object.spec.devices.exists(device,
          has(device.taints) && device.taints.exists(taint, taint.effect == 'NoExecute'))
    - name: devices-changed
      expression: >-
        request.operation == 'CREATE' || !has(oldObject.spec.devices) || object.spec.devices != oldObject.spec.devices
validateEvictions:
  path: validate/evictions
  kind: Validating
  namespaced: true
  sideEffects: NoneOnDryRun
  rules:
    - {operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [pods/eviction], scope: Namespaced}
  conditions: []
validateDeletes:
  path: validate/deletes
  kind: Validating
  namespaced: true
  sideEffects: NoneOnDryRun
  rules:
    - {operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [pods], scope: Namespaced}
  conditions:
    - name: by-an-evictor
      expression: "request.userInfo.username in {{ toJson .Values.webhooks.validateDeletes.users | replace "\"" "'" }}"
    # So is a delete by force; and the API server itself writes 0 where nothing of the pod is left to end.
    - name: ends-something
      expression: >-
        !has(request.options.gracePeriodSeconds) || request.options.gracePeriodSeconds != 0
        || (has(oldObject.spec.terminationGracePeriodSeconds) && oldObject.spec.terminationGracePeriodSeconds == 0)
{{- end }}

{{/* Names of the hooks that are on, as a list. */}}
{{- define "bailiff.webhooks.on" -}}
{{- range $hook := list "mutatePods" "validatePods" "validateBindings" "validateNodes" "validateDeviceTaintRules" "validateResourceSlices" "validateEvictions" "validateDeletes" }}
{{- if (index $.Values.webhooks $hook).enabled }}
- {{ $hook }}
{{- end }}
{{- end }}
{{- end }}

{{/* Something, where one of these hooks is on: (list . "validateNodes" …). */}}
{{- define "bailiff.webhooks.any" -}}
{{- $root := first . }}
{{- range $hook := rest . }}
{{- if (index $root.Values.webhooks $hook).enabled }}yes{{ end }}
{{- end }}
{{- end }}

{{/* Something, where a hook goes by the policies. */}}
{{- define "bailiff.webhooks.policies" -}}
{{- include "bailiff.webhooks.any" (list . "validateNodes" "validateDeviceTaintRules" "validateResourceSlices" "validateEvictions" "validateDeletes") }}
{{- end }}

{{/* Something, where evictions go through the gate. */}}
{{- define "bailiff.webhooks.gate" -}}
{{- include "bailiff.webhooks.any" (list . "validateEvictions" "validateDeletes") }}
{{- end }}

{{/* Something, where a hook looks at the cluster. */}}
{{- define "bailiff.webhooks.reads" -}}
{{- include "bailiff.webhooks.any" (list . "validatePods" "validateBindings") }}{{ include "bailiff.webhooks.policies" . }}
{{- end }}

{{/* The ConfigMap of what is counted over time, as YAML; nothing where nobody counts. */}}
{{- define "bailiff.counts" -}}
{{- $store := (default dict .Values.worker.policies).overTime }}
{{- if and $store (or .Values.worker.enabled (include "bailiff.webhooks.gate" .)) }}
{{- toYaml (mergeOverwrite (dict "namespace" "kube-system" "name" "bailiff-evictions") (default dict $store.store)) }}
{{- end }}
{{- end }}

{{/* A component's right to one ConfigMap: (dict "component" … "suffix" … "namespace" … "name" … "verbs" …). */}}
{{- define "bailiff.configMapRole" -}}
{{- $root := first .component }}
{{- $name := printf "%s-%s" (include "bailiff.clusterwide" .component) .suffix }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "bailiff.labels" .component | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: {{ toJson .verbs }}
    resourceNames: [{{ .name }}]
  {{- with .guard }}
  # What the admission policy asks for besides.
  - apiGroups: [bailiff.dev]
    resources: [{{ . }}]
    verbs: [update]
    resourceNames: [{{ $.name }}]
  {{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "bailiff.labels" .component | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "bailiff.serviceAccount" .component }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}

{{/* What cannot work is refused before anything is installed. */}}
{{- define "bailiff.webhooks.check" -}}
{{- include "bailiff.tls.check" . }}
{{- $on := include "bailiff.webhooks.on" . | fromYamlArray }}
{{- /* As `bailiff serve` has it. */}}
{{- $never := list }}
{{- range .Values.webhooks.validateDeletes.users }}
{{- if regexMatch "^system:(node:.*|kube-controller-manager|kube-scheduler|apiserver|serviceaccount:kube-system:((cronjob|daemon-set|deployment|job|namespace|node|replicaset|replication|statefulset|ttl-after-finished)-controller|generic-garbage-collector|pod-garbage-collector))$" . }}
{{- $never = append $never . }}
{{- end }}
{{- end }}
{{- if $never }}
{{- fail (printf "webhooks.validateDeletes.users: must not be held: %s: they delete pods to scale, to roll out or to clear away, or try no more than once" (join ", " $never)) }}
{{- end }}
{{- if $on }}
{{- if not .Values.api.enabled }}
{{- fail (printf "webhooks.%s needs api.enabled: the API answers the hooks" (first $on)) }}
{{- end }}
{{- if not .Values.tls.enabled }}
{{- fail (printf "webhooks.%s needs tls.enabled: the API server calls webhooks by https alone" (first $on)) }}
{{- end }}
{{- if and .Values.tls.secretName (not .Values.tls.certManager.enabled) (not .Values.webhooks.caBundle) }}
{{- fail (printf "webhooks.%s needs webhooks.caBundle: tls.secretName is a certificate of your own, and the API server has to be told who vouches for it" (first $on)) }}
{{- end }}
{{- if and (include "bailiff.webhooks.gate" .) (not .Values.worker.policies) }}
{{- fail "webhooks.validateEvictions and webhooks.validateDeletes need worker.policies: they go by nothing else" }}
{{- end }}
{{- if and .Values.webhooks.validateDeletes.enabled (not .Values.webhooks.validateDeletes.users) }}
{{- fail "webhooks.validateDeletes needs webhooks.validateDeletes.users: the accounts whose deletes are evictions" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Accounts of ours: what they do passes by the hooks. */}}
{{- define "bailiff.webhooks.ownAccounts" -}}
{{- range $component := list "api" "worker" }}
- system:serviceaccount:{{ $.Release.Namespace }}:{{ include "bailiff.serviceAccount" (list $ $component) }}
{{- end }}
{{- end }}

{{/* Whom the webhooks of this release believe in the cluster, in base64; nothing where nobody can say. */}}
{{- define "bailiff.webhooks.believed" -}}
{{- $believed := "" }}
{{- range $kind := list "MutatingWebhookConfiguration" "ValidatingWebhookConfiguration" }}
{{- $found := default dict (lookup "admissionregistration.k8s.io/v1" $kind "" (include "bailiff.clusterwide" (list $ "api"))) }}
{{- with $found.webhooks }}
{{- $believed = default $believed (first .).clientConfig.caBundle }}
{{- end }}
{{- end }}
{{- $believed }}
{{- end }}

{{/* Whom the API server is to believe, in base64; nothing where somebody else writes it there. */}}
{{- define "bailiff.webhooks.caBundle" -}}
{{- if .Values.tls.certManager.enabled }}
{{- else if .Values.tls.rotation.enabled }}
{{- /* As the Job has it, so that a hook that comes now is believed at once. */}}
{{- $found := default dict (lookup "v1" "Secret" .Release.Namespace (include "bailiff.tlsSecret" .)) }}
{{- default (include "bailiff.webhooks.believed" .) (default dict $found.data | dig "ca.crt" "") }}
{{- else if .Values.tls.secretName }}
{{- .Values.webhooks.caBundle | b64enc }}
{{- else }}
{{- $made := include "bailiff.tls.made" . | fromJson }}
{{- $bundle := index $made.data "ca.crt" | b64dec }}
{{- if $made.isNew }}
{{- /* Pods serve the certificate before for a minute or two: until the next upgrade both are believed. */}}
{{- $before := include "bailiff.webhooks.believed" . | b64dec }}
{{- if not (contains $before $bundle) }}
{{- $bundle = printf "%s%s" $before $bundle }}
{{- end }}
{{- end }}
{{- $bundle | b64enc }}
{{- end }}
{{- end }}

{{/* One configuration: (list . "Mutating") or (list . "Validating"); nothing without a hook of that kind. */}}
{{- define "bailiff.webhooks.configuration" -}}
{{- $root := first . }}
{{- $kind := index . 1 }}
{{- $api := list $root "api" }}
{{- $table := include "bailiff.webhooks.table" $root | fromYaml }}
{{- $bundle := include "bailiff.webhooks.caBundle" $root }}
{{- $own := include "bailiff.webhooks.ownAccounts" $root | fromYamlArray }}
{{- $hooks := list }}
{{- range $name := include "bailiff.webhooks.on" $root | fromYamlArray }}
{{- if eq (index $table $name).kind $kind }}
{{- $hooks = append $hooks $name }}
{{- end }}
{{- end }}
{{- if $hooks }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: {{ $kind }}WebhookConfiguration
metadata:
  name: {{ include "bailiff.clusterwide" $api }}
  labels:
    {{- include "bailiff.labels" $api | nindent 4 }}
  {{- if $root.Values.tls.certManager.enabled }}
  annotations:
    cert-manager.io/inject-ca-from: {{ $root.Release.Namespace }}/{{ include "bailiff.tlsSecret" $root }}
  {{- end }}
webhooks:
  {{- range $name := $hooks }}
  {{- $hook := index $table $name }}
  {{- $set := index $root.Values.webhooks $name }}
  - name: {{ kebabcase $name }}.bailiff.dev
    admissionReviewVersions: [v1]
    clientConfig:
      service:
        namespace: {{ $root.Release.Namespace }}
        name: {{ include "bailiff.component" $api }}
        port: {{ $root.Values.api.service.admissionPort }}
        path: /admission/v1/{{ $hook.path }}
      {{- with $bundle }}
      caBundle: {{ . }}
      {{- end }}
    sideEffects: {{ $hook.sideEffects }}
    failurePolicy: {{ $set.failurePolicy }}
    timeoutSeconds: {{ $set.timeoutSeconds }}
    matchPolicy: Equivalent
    {{- if eq $kind "Mutating" }}
    # Another webhook may ask for an extended resource after us.
    reinvocationPolicy: IfNeeded
    {{- end }}
    rules:
      {{- toYaml $hook.rules | nindent 6 }}
    {{- if $hook.namespaced }}
    {{- $spared := list $root.Release.Namespace }}
    {{- if $hook.system }}
    {{- $spared = concat $spared $root.Values.webhooks.excludedNamespaces | uniq }}
    {{- end }}
    namespaceSelector:
      {{- with $set.namespaceSelector.matchLabels }}
      matchLabels:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      matchExpressions:
        - {key: kubernetes.io/metadata.name, operator: NotIn, values: {{ toJson $spared }}}
        {{- with $set.namespaceSelector.matchExpressions }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- end }}
    {{- with $set.objectSelector }}
    objectSelector:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    matchConditions:
      - name: not-bailiff
        expression: "!(request.userInfo.username in {{ toJson $own | replace "\"" "'" }})"
      {{- with $hook.conditions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with $set.matchConditions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Options of `bailiff serve` for the hooks that are on. */}}
{{- define "bailiff.webhooks.settings" -}}
{{- with .Values.webhooks }}
BAILIFF_ADMISSION_PORT: "8443"
{{- if .clientCA.secretName }}
BAILIFF_ADMISSION_CLIENT_CA_FILE: /etc/bailiff-admission-ca/ca.crt
{{- end }}
BAILIFF_ADMISSION_EXEMPT_USER: {{ include "bailiff.webhooks.ownAccounts" $ | fromYamlArray | join " " | quote }}
BAILIFF_ADMISSION_EXEMPT_NAMESPACE: {{ $.Release.Namespace | quote }}
{{- if .mutatePods.enabled }}
BAILIFF_MUTATION: {{ join " " .mutatePods.mutations | quote }}
BAILIFF_DEFAULT_NOT_READY_TOLERATION_SECONDS: {{ .mutatePods.defaultNotReadyTolerationSeconds | quote }}
BAILIFF_DEFAULT_UNREACHABLE_TOLERATION_SECONDS: {{ .mutatePods.defaultUnreachableTolerationSeconds | quote }}
{{- end }}
{{- if include "bailiff.webhooks.policies" $ }}
BAILIFF_POLICIES: /etc/bailiff/policies.yaml
{{- end }}
{{- if .validateDeletes.enabled }}
BAILIFF_GATE_DELETE_USER: {{ join " " .validateDeletes.users | quote }}
{{- end }}
{{- end }}
{{- end }}
