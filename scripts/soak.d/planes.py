"""Control planes as processes: started, killed, frozen, and how much memory they take."""

import asyncio
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

from wire import Away, Connection

ROLES = ("viewer", "operator", "owner", "agent")


class Plane:
    """One of them, in a folder of its own."""

    def __init__(self, name, binary, journal, folder, like=None):
        self.name, self.binary, self.journal = name, str(pathlib.Path(binary).resolve()), journal
        self.folder = pathlib.Path(folder) / name
        for release in ("v1", "v2"):
            states = self.folder / "releases" / release
            states.mkdir(parents=True)
            (states / "top.sls").write_text(f"base: {{'*': [{release}]}}\n")
        self.tokens = {} if like is None else dict(like.tokens)
        if like is not None:
            shutil.copy(like.folder / "tokens.yaml", self.folder / "tokens.yaml")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.child = None

    async def start(self):
        """Until it is ready."""
        out = open(self.folder / "out", "a+", encoding="utf-8")
        log = open(self.folder / "log", "a", encoding="utf-8")
        create = [] if self.tokens else ["--create-tokens"]
        flags = ["--tokens", "tokens.yaml", "--releases", "releases", "--listen", f"127.0.0.1:{self.port}"]
        # The person and whoever furnishes the fleet are one token; agents keep the limit they always have.
        more = ["--tick-seconds", "5", "--rate-limit", "100000", "--log", "warn"]
        command = [self.binary, "serve", *flags, *create, *more]
        environment = {**os.environ, "KURA_CONSOLE_JOURNAL": self.journal}
        self.child = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=log
        )
        for _ in range(600):
            await asyncio.sleep(0.1)
            if self.child.poll() is not None:
                raise SystemExit(f"{self.name} ended: {(self.folder / 'log').read_text()[-2000:]}")
            if await self.is_ready():
                break
        else:
            raise SystemExit(f"{self.name} is never ready: {(self.folder / 'log').read_text()[-2000:]}")
        told = (self.folder / "out").read_text(encoding="utf-8")
        self.tokens.update(re.findall(rf"^\s*({'|'.join(ROLES)})\s+(kura_\S+)", told, re.MULTILINE))

    async def is_ready(self):
        try:
            status, _ = await Connection(self.port).ask("GET", "/readyz", patience=2)
        except Away:
            return False
        return status == 200

    def call(self, role="owner"):
        """A connection as somebody."""
        return Connection(self.port, self.tokens[role])

    def kill(self):
        self.child.kill()
        self.child.wait()

    def freeze(self):
        self.child.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.child.send_signal(signal.SIGCONT)

    def end(self):
        """As an operator does; False where it has to be killed."""
        self.thaw()
        self.child.terminate()
        try:
            return self.child.wait(60) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def resident(self):
        """Mebibytes in memory; none while it does not run."""
        try:
            text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text(encoding="utf-8")
        except OSError:
            return None
        found = re.search(r"VmRSS:\s+(\d+) kB", text)
        return int(found[1]) / 1024 if found else None

    async def tick_age(self):
        """Seconds since the last tick it knows of; none where it does not answer."""
        try:
            _, text = await Connection(self.port).ask("GET", "/metrics", patience=1.5)
        except Away:
            return None
        found = re.search(r'^kura_tick_age_seconds\{account="default"\} (\S+)', text, re.MULTILINE)
        return float(found[1]) if found else None
