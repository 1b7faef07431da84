# Which states go to which machine. Targets by host name, environment or ring are decided by the control plane, so that
# a machine is given only what is meant for it; targets by grain are decided on the node.
base:
  '*':
    - common
  'example-cp':
    - match: ring
    - k8s.server
  'example-workers':
    - match: ring
    - k8s.agent
