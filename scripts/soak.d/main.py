"""The run: furnish, let everybody live, let things happen, measure, judge, draw."""

import argparse
import asyncio
import csv
import os
import sys
import tempfile
import time

import faults
import graph
import verdict
from person import Person, furnish
from planes import Plane
from swarm import Swarm

SAMPLE_EVERY = 2.0
FIELDS = ("t", "one_mib", "two_mib", "polls", "troubles", "reports", "verbs", "verb_age", "tick_age", "fault")


def flags():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--agents", type=int, default=5000)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--fault-every", type=int, default=60)
    parser.add_argument("--csv", default="target/soak.csv")
    parser.add_argument("--svg", default="target/soak.svg")
    return parser.parse_args()


async def measure(planes, swarm, person, happened, until):
    """A sample every two seconds."""
    samples, began = [], time.monotonic()
    before, last = (0, 0, 0), began
    while (now := time.monotonic()) < until:
        counts = (swarm.polls, swarm.troubles, swarm.reports)
        rates = [(after - earlier) / max(now - last, 0.001) for after, earlier in zip(counts, before)]
        before, last = counts, now
        ages = [age for age in [await plane.tick_age() for plane in planes] if age is not None]
        samples.append({
            "t": round(now - began, 1), "one_mib": planes[0].resident(), "two_mib": planes[1].resident(),
            "polls": round(rates[0], 1), "troubles": round(rates[1], 1), "reports": round(rates[2], 1),
            "verbs": len(person.acknowledged), "verb_age": round(person.waits, 1),
            "tick_age": min(ages, default=None), "fault": happened[-1][1] if happened else "",
        })
        await asyncio.sleep(max(0.0, SAMPLE_EVERY - (time.monotonic() - now)))
    return samples


async def live(asked, journal, folder):
    one = Plane("one", asked.binary, journal, folder)
    await one.start()
    two = Plane("two", asked.binary, journal, folder, like=one)
    await two.start()
    planes = [one, two]
    began = time.monotonic()
    machines = await furnish(one, asked.agents)
    print(f"{len(machines)} machines in {time.monotonic() - began:.0f} s", flush=True)
    swarm, person, happened = Swarm(planes, machines), Person(planes), []
    began, until = time.monotonic(), time.monotonic() + asked.seconds

    def told(name):
        happened.append((time.monotonic() - began, name))
        print(f"{happened[-1][0]:6.0f} s  {name}; {len(person.acknowledged)} verbs, {swarm.polls} polls, "
              f"{swarm.reports} reports, {one.resident():.0f} MiB", flush=True)

    acting = asyncio.create_task(person.act())
    happening = asyncio.create_task(faults.happen(faults.cycle(one, two, swarm), asked.fault_every, until, told))
    samples = await measure(planes, swarm, person, happened, until)
    person.over = True
    await asyncio.wait_for(happening, 120)
    await asyncio.wait_for(acting, 120)
    wrong = [f"an agent: {fault!r}" for fault in await swarm.end()][:5]
    wrong += [f"{plane.name} does not end in order" for plane in planes if not plane.end()]
    return samples, happened, swarm, person, wrong


def main():
    asked = flags()
    journal = os.environ["KURA_CONSOLE_TEST_POSTGRES"]
    with tempfile.TemporaryDirectory() as folder:
        samples, happened, swarm, person, wrong = asyncio.run(live(asked, journal, folder))
    for path in (asked.csv, asked.svg):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(asked.csv, "w", newline="", encoding="utf-8") as file:
        rows = csv.DictWriter(file, FIELDS)
        rows.writeheader()
        rows.writerows(samples)
    wrong += verdict.of_samples(samples, person)
    found, epoch, granted = verdict.of_journal(asked.binary, journal, person.acknowledged)
    wrong += found
    warm, _, last = verdict.memory(samples)
    said = (f"{asked.agents} agents, {asked.seconds} s, {len(happened)} faults: {swarm.polls} polls, {swarm.reports} reports, "
            f"{len(person.acknowledged)} verbs, {granted} grants, {epoch} seats")
    graph.draw(samples, happened, said, asked.svg)
    print(said)
    print(f"memory {warm:.0f} MiB when warm, {last:.0f} MiB at the end; the slowest verb took {person.slowest:.1f} s; "
          f"{swarm.troubles} polls and {person.troubles} verbs met trouble")
    for fault in wrong:
        print(f"WRONG: {fault}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
