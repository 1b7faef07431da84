"""Agents: each holds a poll, runs what it is served in no time, and says so until somebody takes it."""

import asyncio
import datetime
import json
import random

from wire import Away, Connection

# Nobody is asked by everybody in the same moment.
SPREAD = 20.0

# A poll is held for so long; an agent waits a little longer before it takes the control plane for gone.
HELD = 25
PATIENCE = 40.0


class Swarm:
    """All of them, and what came of it."""

    def __init__(self, planes, machines):
        self.planes = planes
        self.polls = self.reports = self.troubles = 0
        self.over = False
        self.connections = []
        self.tasks = [asyncio.create_task(self._live(nth, machine)) for nth, machine in enumerate(machines)]

    def cut(self, count):
        """So many connections break at once."""
        for connection in random.sample(self.connections, min(count, len(self.connections))):
            connection.close()

    async def end(self):
        self.over = True
        for task in self.tasks:
            task.cancel()
        ended = await asyncio.gather(*self.tasks, return_exceptions=True)
        return [fault for fault in ended if not isinstance(fault, asyncio.CancelledError) and fault is not None]

    async def _live(self, nth, machine):
        await asyncio.sleep(random.uniform(0, SPREAD))
        have, place = None, nth
        connection = self._connect(place)
        self.connections.append(connection)
        while not self.over:
            path = f"/api/agent/assignment?wait={HELD}" + (f"&have={have}" if have else "")
            answer = await self._ask(connection, "GET", path, machine)
            if answer is None:
                place += 1
                connection.port = self.planes[place % len(self.planes)].port
                continue
            told = json.loads(answer).get("assignment")
            self.polls += 1
            if told is None:
                continue
            edition = f"{told['release_uuid']}:{told['generation']}"
            if edition != have:
                await self._run(connection, machine, told)
                have = edition

    def _connect(self, place):
        plane = self.planes[place % len(self.planes)]
        return Connection(plane.port, plane.tokens["agent"])

    async def _run(self, connection, machine, told):
        # A run is told from another one by its start.
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()
        report = {
            "release_uuid": told["release_uuid"], "generation": told["generation"], "outcome": "success",
            "started_at": now, "finished_at": now, "changed_count": 1, "failed_states": [], "log_tail": "",
        }
        while await self._ask(connection, "POST", "/api/agent/apply-results", machine, report) is None:
            pass
        self.reports += 1

    async def _ask(self, connection, method, path, machine, body=None):
        """The body of a 200; none, after a while, where there was trouble."""
        try:
            status, said = await connection.ask(method, path, (f"x-machine: {machine}",), body, PATIENCE)
        except Away:
            self.troubles += 1
            await asyncio.sleep(random.uniform(0.5, 3))
            return None
        if status == 200:
            return said
        if status not in (429, 500, 502, 503, 504):
            raise AssertionError(f"{method} {path} of {machine}: {status} {said}")
        self.troubles += 1
        await asyncio.sleep(random.uniform(1, 3))
        return None
