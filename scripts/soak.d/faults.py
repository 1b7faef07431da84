"""What happens: one after the other, again and again."""

import asyncio
import subprocess

# Longer than a seat lasts without a sign of life.
FROZEN = 20


def database(flag):
    return asyncio.to_thread(subprocess.run, ["tests/postgres/provision", flag], check=True, capture_output=True)


async def frozen(plane):
    plane.freeze()
    await asyncio.sleep(FROZEN)
    plane.thaw()


async def killed(plane):
    plane.kill()
    await asyncio.sleep(3)
    await plane.start()


async def cut(swarm):
    swarm.cut(len(swarm.connections) // 2)


def cycle(one, two, swarm):
    """Names and deeds. The first control plane is never killed: its memory is what is measured."""
    return [
        ("database restarted", lambda: database("--restart")),
        ("two killed", lambda: killed(two)),
        ("one frozen", lambda: frozen(one)),
        ("database killed", lambda: database("--kill")),
        ("two frozen", lambda: frozen(two)),
        ("half of the connections cut", lambda: cut(swarm)),
    ]


async def happen(deeds, every, until, told):
    """One every so many seconds; none so late that nobody would see what comes of it."""
    nth = 0
    await asyncio.sleep(every)
    while asyncio.get_running_loop().time() + every <= until:
        name, deed = deeds[nth % len(deeds)]
        told(name)
        begun = asyncio.get_running_loop().time()
        await deed()
        nth += 1
        await asyncio.sleep(max(0.0, every - (asyncio.get_running_loop().time() - begun)))
