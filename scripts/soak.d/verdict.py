"""Whether it will do: memory is flat, nothing was stuck, and the journal has everything that was acknowledged, once."""

import collections
import json
import os
import statistics
import subprocess

# Memory may grow by so much, in per cent and mebibytes: from when everything is warm to the end, and over the second half.
GROWTH, SLACK = 15, 16
LATE_GROWTH, LATE_SLACK = 5, 8

# The longest a verb may take, in seconds: a database that is away, a control plane that is frozen, and then the other one.
VERB_MAX = 60

# How old the last tick may be at any time, in seconds: its holder is frozen, the seat expires, somebody takes it and ticks.
TICK_MAX = 60

# And at the end, when nothing happens any more.
TICK_MAX_AT_REST = 30


def memory(samples):
    """Medians of the first control plane when it is warm, in the middle, and at the end."""
    known = [sample["one_mib"] for sample in samples if sample["one_mib"] is not None]
    part = max(1, len(known) // 5)
    return [statistics.median(known[from_:to]) for from_, to in ((part, 2 * part), (2 * part, 3 * part), (-part, None))]


def of_samples(samples, person):
    faults = []
    warm, middle, last = memory(samples)
    if last > warm * (1 + GROWTH / 100) + SLACK or last > middle * (1 + LATE_GROWTH / 100) + LATE_SLACK:
        faults.append(f"memory grew from {warm:.0f} over {middle:.0f} to {last:.0f} MiB")
    if person.slowest > VERB_MAX:
        faults.append(f"a verb took {person.slowest:.0f} s")
    ages = [sample["tick_age"] for sample in samples if sample["tick_age"] is not None]
    if max(ages, default=0) > TICK_MAX:
        faults.append(f"nothing ticked for {max(ages):.0f} s")
    ages = [sample["tick_age"] for sample in samples[-10:] if sample["tick_age"] is not None]
    if not ages or min(ages) > TICK_MAX_AT_REST:
        faults.append(f"nothing ticks at the end: {ages}")
    return faults


def of_journal(binary, journal, acknowledged):
    """What `journal verify` and `audit verify` say, and every key."""
    def about(*arguments):
        environment = {**os.environ, "KURA_CONSOLE_JOURNAL": journal}
        return subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=False)

    faults = []
    for arguments, good in (
        (("journal", "verify"), "nothing is wrong"),
        (("audit", "verify", "--journal", journal, "--account", "default"), "none broken"),
    ):
        said = about(*arguments)
        if said.returncode != 0 or good not in said.stdout:
            faults.append(f"{' '.join(arguments)}: {said.stdout}{said.stderr}")
    done, epoch, holder, granted = collections.Counter(), 0, None, 0
    for line in about("journal", "export").stdout.splitlines():
        entry = json.loads(line)
        change, cause = entry["change"], entry["cause"]
        if change["kind"] == "audited" and change["link"]["fate"] == {"kind": "done"}:
            done[cause.get("key")] += 1
        if change["kind"] == "seat_taken":
            if change["epoch"] <= epoch:
                faults.append(f"epoch {change['epoch']} after {epoch}")
            epoch, holder = change["epoch"], change["holder"]
        granted += change["kind"] == "lease_granted"
        if cause["kind"] == "tick" and entry["by"] != holder:
            faults.append(f"{entry['by']} ticks in the epoch of {holder}")
    wrong = [key for key in acknowledged if done[key] != 1]
    if wrong:
        faults.append(f"acknowledged, and not there once: {wrong[:10]}")
    return faults, epoch, granted
