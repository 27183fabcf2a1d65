{{- define "consent-ledger.name" -}}
{{- if contains "consent-ledger" .Release.Name }}{{ .Release.Name | trunc 45 | trimSuffix "-" }}{{ else }}{{ printf "%s-consent-ledger" (.Release.Name | trunc 30 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "consent-ledger.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
{{ include "consent-ledger.selector" . }}
{{- end }}

{{- define "consent-ledger.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* The variables of a pod: those derived from the ingresses, which "settings" can override, and those that the chart always sets. */ -}}
{{- define "consent-ledger.settings" -}}
{{- $own := dict "HOST" "0.0.0.0" "PORT" "8080" "ADMIN_HOST" "0.0.0.0" "ADMIN_PORT" "8081" "DATA_DIR" "/data" "SIGNING_KEY_FILE" (printf "/run/secrets/consent-ledger/%s" .Values.secret.signingKey) }}
{{- range .Values.secret.keys }}{{ $_ := set $own (printf "%s_FILE" .) (printf "/run/secrets/consent-ledger/%s" .) }}{{ end }}
{{- $given := dict }}
{{- if .Values.ingress.enabled }}{{ $_ := set $given "PUBLIC_URL" (printf "https://%s" .Values.ingress.host) }}{{ end }}
{{- if or .Values.ingress.enabled .Values.adminIngress.enabled }}{{ $_ := set $given "TRUST_PROXY" "uniquelocal" }}{{ end }}
{{- if .Values.adminIngress.enabled }}{{ $_ := set $given "ADMIN_HOSTS" .Values.adminIngress.host }}{{ $_ := set $given "ADMIN_URL" (printf "https://%s" .Values.adminIngress.host) }}{{ end }}
{{- if .Values.controllerProfile }}{{ $_ := set $own "CONTROLLER_FILE" "/etc/consent-ledger/controller.yaml" }}{{ end }}
{{- range $name, $value := mergeOverwrite $given .Values.settings $own }}
- name: {{ $name }}
  {{- /* Helm reads large numbers as 6.7e+07. */}}
  value: {{ if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ printf "%.0f" (float64 $value) | quote }}{{ end }}
{{- end }}
{{- end }}

{{- /* The pod of both deployments; "part" is receivers or workers. */ -}}
{{- define "consent-ledger.pod" -}}
{{- $root := .root }}
{{- $part := index $root.Values .part }}
metadata:
  labels:
    {{- include "consent-ledger.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .part }}
  annotations:
    # Replaces the pods when a file changes.
    checksum/files: {{ printf "%s%s" $root.Values.controllerProfile (toJson $root.Values.files) | sha256sum }}
    {{- with $root.Values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  automountServiceAccountToken: false
  # Kubernetes would add variables for every service, which look like misspelt settings.
  enableServiceLinks: false
  # Time to keep serving until the cluster has noticed, plus 25 seconds to stop.
  terminationGracePeriodSeconds: {{ if eq .part "receivers" }}{{ add $part.drain 35 }}{{ else }}40{{ end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "consent-ledger.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ .part }}
  containers:
    - name: {{ .part | trimSuffix "s" }}
      image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- if eq .part "receivers" }}
      args: ["serve", "--no-worker", "--drain", {{ $part.drain | quote }}]
      ports:
        - name: public
          containerPort: 8080
        - name: admin
          containerPort: 8081
      # The first start creates or migrates the tables.
      startupProbe:
        httpGet:
          path: /healthz
          port: public
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet:
          path: /healthz
          port: public
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: public
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 1
      {{- else }}
      # A worker has no port to probe; it exits when it cannot continue.
      args: ["worker"]
      {{- end }}
      env:
        {{- include "consent-ledger.settings" $root | trim | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: ["ALL"]
      resources:
        {{- toYaml $part.resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /data
        - name: tmp
          mountPath: /tmp
        - name: secrets
          mountPath: /run/secrets/consent-ledger
          readOnly: true
        {{- if or $root.Values.controllerProfile $root.Values.files }}
        - name: files
          mountPath: /etc/consent-ledger
          readOnly: true
        {{- end }}
  volumes:
    - name: data
      persistentVolumeClaim:
        claimName: {{ $root.Values.persistence.existingClaim | default (include "consent-ledger.name" $root) }}
    - name: tmp
      emptyDir: {}
    - name: secrets
      secret:
        secretName: {{ $root.Values.secret.name }}
        defaultMode: 0440
        items:
          - key: {{ $root.Values.secret.signingKey }}
            path: {{ $root.Values.secret.signingKey }}
          {{- range $root.Values.secret.keys }}
          - key: {{ . }}
            path: {{ . }}
          {{- end }}
    {{- if or $root.Values.controllerProfile $root.Values.files }}
    - name: files
      configMap:
        name: {{ include "consent-ledger.name" $root }}
    {{- end }}
  {{- with $part.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $part.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $part.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
