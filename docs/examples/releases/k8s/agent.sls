# A worker: a kubeconfig with the token of the ServiceAccount durantic-node-maintainer.
include:
  - .arc

/run/kura.kubeconfig:
  file.managed:
    - contents: |
        apiVersion: v1
        kind: Config
        clusters: [{name: c, cluster: {server: "https://{{ vars.K8S_VIP }}:6443", certificate-authority: /etc/k8s/ca.pem}}]
        users: [{name: u, user: {token: {{ vars.DRAIN_TOKEN | json }}}}]
        contexts: [{name: x, context: {cluster: c, user: u}}]
        current-context: x
    - mode: '0600'
    - require_in:
        - cmd: cordon_drain
