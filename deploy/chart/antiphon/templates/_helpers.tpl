{{- define "antiphon.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "antiphon.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "antiphon.labels" -}}
{{ include "antiphon.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "antiphon.storeKind" -}}
{{ dig "store" "kind" "libsql" .Values.settings }}
{{- end }}

{{- define "antiphon.stopsAfterS" -}}
{{ add 15 (div (add (.Values.settings.drainDelayMs | default 0) (.Values.settings.shutdownGraceMs | default 10000)) 1000) }}
{{- end }}

{{- /* What would lose keys or usage, or count them apart, is refused before anything is made. */ -}}
{{- define "antiphon.checked" -}}
{{- $shared := eq (include "antiphon.storeKind" .) "postgres" }}
{{- $several := or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}
{{- if and $several (not $shared) }}
{{- fail "More than one server needs settings.store.kind postgres: set it, or set replicas to 1 and autoscaling.enabled to false." }}
{{- end }}
{{- if and (not $shared) (ne .Values.data.kind "claim") }}
{{- fail "With settings.store.kind libsql keys and usage are in the data folder: set data.kind to claim." }}
{{- end }}
{{- if and $several (eq .Values.data.kind "claim") }}
{{- fail "A claim belongs to one server: set data.kind to ephemeral or image, or replicas to 1 and autoscaling.enabled to false." }}
{{- end }}
{{- if and .Values.autoscaling.enabled (not .Values.serviceMonitor.enabled) (not .Values.autoscaling.query) }}
{{- fail "autoscaling counts streams by the labels of this chart's ServiceMonitor: set serviceMonitor.enabled to true, or autoscaling.query." }}
{{- end }}
{{- if and .Values.ingress.enabled (not (hasKey .Values.settings "trustProxy")) }}
{{- fail "Behind an ingress every request comes from it: set settings.trustProxy to its addresses, or to true where nothing else reaches the pods." }}
{{- end }}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) }}
{{- fail "autoscaling.minReplicas is above autoscaling.maxReplicas." }}
{{- end }}
{{- end }}

{{- /* The name of the port that has /metrics. */ -}}
{{- define "antiphon.metricsPort" -}}
{{ if dig "metrics" "port" nil .Values.settings }}metrics{{ else }}http{{ end }}
{{- end }}
