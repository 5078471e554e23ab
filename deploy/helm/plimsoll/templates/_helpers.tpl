{{/* Names, labels and the ways of TLS: what more than one object says. */}}

{{- define "plimsoll.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* The prefix of all names; short enough for -telemetry-tls after it to stay a DNS label. */}}
{{- define "plimsoll.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "plimsoll.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What selects pods: of (list $ "scheduler"). Never changes over upgrades. */}}
{{- define "plimsoll.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "plimsoll.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* All labels: of (list $ "scheduler"). */}}
{{- define "plimsoll.labels" -}}
{{- $root := index . 0 -}}
{{ include "plimsoll.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: plimsoll
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* An image: of (list $ .Values.agent.image). */}}
{{- define "plimsoll.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default $root.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* A service account: of (list $ "scheduler" .Values.scheduler.serviceAccount). */}}
{{- define "plimsoll.account" -}}
{{- $account := index . 2 -}}
{{- default (printf "%s-%s" (include "plimsoll.fullname" (index . 0)) (index . 1)) $account.name -}}
{{- end -}}

{{/* Names of cluster-wide objects: releases of one name live in several namespaces. */}}
{{- define "plimsoll.clusterName" -}}
{{- printf "%s:%s-scheduler" .Release.Namespace (include "plimsoll.fullname" .) -}}
{{- end -}}

{{/* insecurePlaintext, existingSecret, certManager or selfSigned; fails where two are asked for. */}}
{{- define "plimsoll.tlsWay" -}}
{{- $ways := list -}}
{{- if .Values.tls.insecurePlaintext }}{{ $ways = append $ways "insecurePlaintext" }}{{ end -}}
{{- if .Values.tls.existingSecret }}{{ $ways = append $ways "existingSecret" }}{{ end -}}
{{- if .Values.tls.certManager.enabled }}{{ $ways = append $ways "certManager" }}{{ end -}}
{{- if gt (len $ways) 1 -}}
{{- fail (printf "tls: set one of %s, not both" (join " and " $ways)) -}}
{{- end -}}
{{- if and .Values.tls.certManager.enabled (not .Values.tls.certManager.issuerRef.name) -}}
{{- fail "tls.certManager.issuerRef.name: must name the issuer that signs the scheduler's certificate" -}}
{{- end -}}
{{- if not .Values.tls.insecurePlaintext -}}
{{- range $index, $scheduler := .Values.agent.extraSchedulers -}}
{{- if hasPrefix "http://" $scheduler -}}
{{- fail (printf "agent.extraSchedulers[%d]: %s is plain text: use https://, or set tls.insecurePlaintext for tests" $index $scheduler) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $ways }}{{ first $ways }}{{ else }}selfSigned{{ end -}}
{{- end -}}

{{/* The Secret with tls.crt and tls.key. */}}
{{- define "plimsoll.tlsSecret" -}}
{{- default (printf "%s-telemetry-tls" (include "plimsoll.fullname" .)) .Values.tls.existingSecret -}}
{{- end -}}

{{/* The host by which agents call the scheduler, and which its certificate names. */}}
{{- define "plimsoll.telemetryHost" -}}
{{- printf "%s-telemetry.%s.svc" (include "plimsoll.fullname" .) .Release.Namespace -}}
{{- end -}}

{{/* What every container of the chart may do: next to nothing. */}}
{{- define "plimsoll.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "plimsoll.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65534
runAsGroup: 65534
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* leaderElection of the scheduler's file: what the values say over a lease of the release's own. */}}
{{- define "plimsoll.election" -}}
{{- $lease := printf "%s-scheduler" (include "plimsoll.fullname" .) -}}
{{- $election := dict "leaderElect" true "resourceName" $lease "resourceNamespace" .Release.Namespace -}}
{{- range $field, $value := default dict .Values.scheduler.config.leaderElection -}}
{{- $_ := set $election $field $value -}}
{{- end -}}
{{- if and (gt (int .Values.scheduler.replicas) 1) (not $election.leaderElect) -}}
{{- fail (printf "scheduler.replicas: %d replicas without scheduler.config.leaderElection.leaderElect would place the same pods twice" (int .Values.scheduler.replicas)) -}}
{{- end -}}
{{- toYaml $election -}}
{{- end -}}
