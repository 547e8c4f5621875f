{{/* What the roles have in common. Each template takes a dict: root, the values of the release, and role. */}}

{{- define "hushgrad.name" -}}
{{ printf "%s-%s" .root.Release.Name .role | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "hushgrad.selector" -}}
app.kubernetes.io/name: hushgrad
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "hushgrad.labels" -}}
{{ include "hushgrad.selector" . }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "hushgrad.metadata" -}}
name: {{ include "hushgrad.name" . }}
labels:
  {{- include "hushgrad.labels" . | nindent 2 }}
{{- end }}

{{/* The file of the role, the same as for one machine. */}}
{{- define "hushgrad.config" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "hushgrad.metadata" . | nindent 2 }}
data:
  {{ .role }}.toml: |
    {{- .root.Files.Get (printf "files/%s.toml" .role) | nindent 4 }}
{{- end }}

{{/* A Service: the ports of publish by name, of the type and with the annotations of service, or within the cluster. */}}
{{- define "hushgrad.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "hushgrad.name" . }}{{ .suffix }}
  labels:
    {{- include "hushgrad.labels" . | nindent 4 }}
  {{- with .service }}{{ with .annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}{{ end }}
spec:
  type: {{ (.service | default dict).type | default "ClusterIP" }}
  selector:
    {{- include "hushgrad.selector" . | nindent 4 }}
  ports:
    {{- range $name, $port := .publish }}
    - {name: {{ $name }}, port: {{ $port }}, targetPort: {{ $name }}}
    {{- end }}
{{- end }}

{{/* The claim of a role's volume. */}}
{{- define "hushgrad.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .className }}
storageClassName: {{ . | quote }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end }}

{{/* A pod, with what the image may do as in compose.yaml: ports by name, the port of metrics, and env. */}}
{{- define "hushgrad.pod" -}}
{{- $values := index .root.Values .role }}
{{- $upper := upper .role -}}
metadata:
  labels:
    {{- include "hushgrad.labels" . | nindent 4 }}
  annotations: # a changed file starts the pod again
    checksum/config: {{ include "hushgrad.config" . | sha256sum }}
spec:
  # Otherwise a Service named hushgrad-serve makes variables that the command takes for flags.
  enableServiceLinks: false
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: 10
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: {{ .role }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: [{{ .role }}, --config, /etc/hushgrad/config/{{ .role }}.toml]
      env: # wins over the file
        {{- $metrics := dict }}
        {{- if .root.Values.metrics.enabled }}
        {{- $_ := set $metrics (printf "HUSHGRAD_%s_METRICS_LISTEN" $upper) (printf "0.0.0.0:%v" .metrics) }}
        {{- $_ := set $metrics (printf "HUSHGRAD_%s_METRICS_CA" $upper) (printf "/etc/hushgrad/%s/ca.pem" .role) }}
        {{- $_ := set $metrics (printf "HUSHGRAD_%s_METRICS_NAME" $upper) .root.Values.metrics.name }}
        {{- end }}
        {{- $data := dict (printf "HUSHGRAD_%s_DATA" $upper) "/data/journal" }}
        {{- range $name, $text := merge (dict) $values.env $metrics .env $data }}
        - {name: {{ $name }}, value: {{ $text | quote }}}
        {{- end }}
      ports:
        {{- range $name, $port := .ports }}
        - {name: {{ $name }}, containerPort: {{ $port }}}
        {{- end }}
        {{- if .root.Values.metrics.enabled }}
        - {name: metrics, containerPort: {{ .metrics }}}
        {{- end }}
      {{- if .root.Values.metrics.enabled }}
      # The page of metrics asks for a certificate: the probes see that it listens.
      readinessProbe:
        tcpSocket: {port: metrics}
        periodSeconds: 10
      livenessProbe:
        tcpSocket: {port: metrics}
        periodSeconds: 10
        failureThreshold: 6
      {{- else }}
      readinessProbe:
        exec: {command: [/hushgrad, health, --server, "127.0.0.1:{{ .metrics }}"]}
        periodSeconds: 10
        timeoutSeconds: 6
      # A full disk is no reason to start the role again.
      livenessProbe:
        exec: {command: [/hushgrad, health, --alive, --server, "127.0.0.1:{{ .metrics }}"]}
        periodSeconds: 10
        timeoutSeconds: 6
        failureThreshold: 6
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        readOnlyRootFilesystem: true
        allowPrivilegeEscalation: false
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: config, mountPath: /etc/hushgrad/config, readOnly: true}
        - {name: tls, mountPath: /etc/hushgrad/{{ .role }}, readOnly: true} # certificates are reread from here
  volumes:
    - name: config
      configMap: {name: {{ include "hushgrad.name" . }}}
    - name: tls
      secret: {secretName: {{ $values.secret }}, defaultMode: 0440}
    {{- with .claim }}
    - name: data
      persistentVolumeClaim: {claimName: {{ . }}}
    {{- end }}
{{- end }}

{{/* A StatefulSet of one pod with a volume. */}}
{{- define "hushgrad.statefulset" -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "hushgrad.metadata" . | nindent 2 }}
spec:
  replicas: 1
  serviceName: {{ include "hushgrad.name" . }}
  selector:
    matchLabels:
      {{- include "hushgrad.selector" . | nindent 6 }}
  template:
    {{- include "hushgrad.pod" . | nindent 4 }}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        {{- include "hushgrad.claim" (index .root.Values .role).storage | nindent 8 }}
{{- end }}
