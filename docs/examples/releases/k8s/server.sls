# A control-plane node: the admin kubeconfig of the distribution, with the server rewritten to the VIP.
include:
  - .arc

/run/kura.kubeconfig:
  file.managed:
    - source: salt://k8s/files/server.kubeconfig
    - mode: '0600'
    - require_in:
        - cmd: cordon_drain
