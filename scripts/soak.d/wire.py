"""As much of HTTP/1.1 as it takes to talk to one control plane over a connection that is kept."""

import asyncio
import json


class Away(Exception):
    """Nothing came back, or not in time."""


class Connection:
    """One connection, made when it is needed."""

    def __init__(self, port, token=None):
        self.port, self.token = port, token
        self.reader = self.writer = None

    def close(self):
        """The next request makes a new one."""
        if self.writer is not None:
            self.writer.transport.abort()
        self.reader = self.writer = None

    async def ask(self, method, path, headers=(), body=None, patience=15.0):
        """Status and body as text."""
        try:
            return await asyncio.wait_for(self._ask(method, path, headers, body), patience)
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError) as fault:
            self.close()
            raise Away(str(fault) or type(fault).__name__) from fault
        except BaseException:
            self.close()
            raise

    async def _ask(self, method, path, headers, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        text = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} {path} HTTP/1.1", "host: localhost", *headers]
        if self.token is not None:
            head += [f"authorization: Bearer {self.token}"]
        if body is not None:
            head += ["content-type: application/json"]
        head += [f"content-length: {len(text)}", "", ""]
        self.writer.write("\r\n".join(head).encode() + text)
        await self.writer.drain()
        return await self._answer()

    async def _answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        status = int(head[0].split(" ")[1])
        fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(await self.reader.readline(), 16):
                body += await self.reader.readexactly(size)
                await self.reader.readline()
            await self.reader.readline()
        else:
            body = await self.reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection") == "close":
            self.close()
        return status, body.decode()
