# The arc of an upgrade: cordon and drain, upgrade, check, uncordon. Each disruptive state runs only while the version that
# runs is lower than the target, so a drift run of an upgraded node changes nothing.
{% set running = salt['cmd.run']('k8s-version') %}

cordon_drain:
  cmd.run:
    - name: kubectl --kubeconfig /run/kura.kubeconfig drain {{ machine.node }} --ignore-daemonsets --delete-emptydir-data
    - onlyif: version-lt {{ running }} {{ vars.K8S_TARGET }}
    - failhard: True

upgrade:
  cmd.run:
    - name: k8s-upgrade {{ vars.K8S_TARGET }}
    - onlyif: version-lt {{ running }} {{ vars.K8S_TARGET }}
    - require:
        - cmd: cordon_drain
    - failhard: True

health_gate:
  cmd.run:
    - name: k8s-wait-ready {{ machine.node }} --api https://{{ vars.K8S_VIP }}:6443
    - require:
        - cmd: upgrade
    - failhard: True

uncordon:
  cmd.run:
    - name: kubectl --kubeconfig /run/kura.kubeconfig uncordon {{ machine.node }}
    - onchanges:
        - cmd: upgrade
    - require:
        - cmd: health_gate
    - failhard: True
