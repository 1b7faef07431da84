"""A person who furnishes the fleet, and then gives a verb a second, each until it is known to be done."""

import asyncio
import json
import time

from wire import Away

PER_RING = 1000
AT_ONCE = 32

# Seconds between two rollouts; a verb in between holds or lets go of something nobody is in.
ROLLS_EVERY = 120


async def must(plane, method, path, body=None):
    """What has to work."""
    status, said = await plane.call().ask(method, path, body=body, patience=60)
    if not 200 <= status < 300:
        raise SystemExit(f"{method} {path}: {status} {said}")
    return json.loads(said)


async def furnish(plane, agents):
    """Two environments, a ring per thousand machines, the machines; their ids."""
    for order, slug in ((1, "load"), (2, "aside")):
        await must(plane, "POST", "/api/config/environments/", {"slug": slug, "promotion_order": order})
    for ring in range(-(-agents // PER_RING)):
        brakes = {"name": f"ring-{ring}", "max_in_flight": 50, "min_settle_seconds": 0}
        await must(plane, "POST", "/api/config/rings/", brakes)
    machines, waiting = [], list(range(agents))

    async def add():
        connection = plane.call()
        while waiting:
            nth = waiting.pop()
            body = {"hostname": f"m{nth}", "environment": "load", "ring": f"ring-{nth // PER_RING}"}
            status, said = await connection.ask("POST", "/api/provisioning/machines/", body=body, patience=60)
            if status != 201:
                raise SystemExit(f"a machine was not made: {status} {said}")
            machines.append(json.loads(said)["uuid"])

    await asyncio.gather(*(add() for _ in range(AT_ONCE)))
    return machines


class Person:
    """What was asked, and what was said to be done."""

    def __init__(self, planes):
        self.planes = planes
        self.acknowledged, self.began, self.slowest, self.troubles = [], None, 0.0, 0
        self.over = False

    @property
    def waits(self):
        """Seconds since the verb under way was given."""
        return 0.0 if self.began is None else time.monotonic() - self.began

    async def act(self):
        environments = await must(self.planes[0], "GET", "/api/config/environments/")
        aside = next(one["uuid"] for one in environments if one["slug"] == "aside")
        releases = [
            (await must(self.planes[0], "POST", "/api/config/releases/build-from-git", {"git_ref": name}))["uuid"]
            for name in ("v1", "v2")
        ]
        nth = 0
        while not self.over:
            if nth % ROLLS_EVERY == 0:
                release = releases[nth // ROLLS_EVERY % 2]
                path, body = "/api/config/rollouts/", {"config_release_uuid": release, "force": True}
            else:
                way = "pause" if nth % 2 else "unpause"
                path, body = f"/api/config/environments/{aside}/{way}", {"reason": "soak"}
            await self._insist(path, body, f"soak-{nth}", nth)
            nth += 1
            await asyncio.sleep(1)

    async def _insist(self, path, body, key, place):
        self.began = time.monotonic()
        while True:
            plane = self.planes[place % len(self.planes)]
            try:
                status, said = await plane.call().ask("POST", path, (f"idempotency-key: {key}",), body)
                if 200 <= status < 300:
                    break
                if status not in (429, 500, 502, 503, 504):
                    raise AssertionError(f"{path} under {key}: {status} {said}")
            except Away:
                pass
            self.troubles += 1
            place += 1
            await asyncio.sleep(0.2)
        self.acknowledged.append(key)
        self.slowest = max(self.slowest, self.waits)
        self.began = None
