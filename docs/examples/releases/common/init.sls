# {{ "the engine's own expressions stay as they are:" }} {{ grains.get('id', 'unknown') }}
/etc/motd:
  file.managed:
    - contents: {{ vars.MOTD | json }}

/etc/hostname:
  file.managed:
    - contents: {{ machine.hostname }}
