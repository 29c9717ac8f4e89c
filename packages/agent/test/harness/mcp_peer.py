"""
A client and a server made with the official Python SDK. `client MODE COMMAND ARGS...` prints what it got as JSON,
`http URL PREFIX` the same of a gateway's peer, and `client MODE URL TOKEN` at an address.
`oauth URL` prints the address to which it sends a browser, reads where that was sent in the end, and prints the answer of a call.
"""

import asyncio
import json
import os
import sys

from urllib.parse import parse_qs, urlparse

from mcp import Client, StdioServerParameters, types
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import BaseModel


async def elicit(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(_context, _params):
    content = types.TextContent(type="text", text="thought")
    return types.CreateMessageResult(role="assistant", model="m", content=content)


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


async def client(mode, command, *args):
    if command.startswith("http"):
        http = create_mcp_http_client(headers={"authorization": f"Bearer {args[0]}"})
        server = streamable_http_client(command, http_client=http)
    else:
        server = StdioServerParameters(command=command, args=list(args), env=dict(os.environ))
    await tried(server, mode, "")


async def tried(server, mode, prefix):
    answers = {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}
    async with Client(server, mode=mode, **answers) as session:
        weather = await session.call_tool(f"{prefix}weather", {"city": "Bern"})
        asked = await session.call_tool(f"{prefix}ask", {})
        prompt = await session.get_prompt(f"{prefix}greet", {"name": "Ada"})
        uri = "note://of/ada"
        resource = await session.read_resource(f"catenet://{prefix[:-1]}/{uri}" if prefix else uri)
        print(
            json.dumps(
                {
                    "revision": session.protocol_version,
                    "tools": sorted(tool.name for tool in (await session.list_tools()).tools),
                    "sky": weather.structured_content,
                    "asked": asked.content[0].text,
                    "prompt": prompt.messages[0].content.text,
                    "blob": resource.contents[0].blob,
                }
            )
        )


class Kept:
    """What the client knows of its sign-in."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def redirect(address):
    print(address, flush=True)


async def returned():
    query = parse_qs(urlparse(await asyncio.to_thread(sys.stdin.readline)).query)
    return AuthorizationCodeResult(**{name: query[name][0].strip() for name in ("code", "state", "iss") if name in query})


async def oauth(url):
    kept = Kept()
    metadata = OAuthClientMetadata(client_name="Python", redirect_uris=["http://127.0.0.1:9/callback"])
    auth = OAuthClientProvider(url, metadata, kept, redirect, returned)
    async with create_mcp_http_client(auth=auth) as http, Client(streamable_http_client(url, http_client=http)) as session:
        answer = await session.call_tool("echo", {"message": "hello"})
        tools = [tool.name for tool in (await session.list_tools()).tools]
        print(json.dumps({"tools": tools, "echo": answer.content[0].text}))


class Name(BaseModel):
    name: str


def serve():
    server = MCPServer("python", instructions="Slowly.")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    @server.tool()
    async def ask(context: Context) -> str:
        """Asks the client."""
        answer = await context.elicit("Who?", Name)
        return answer.data.name

    @server.tool()
    async def count(context: Context) -> str:
        """Reports progress."""
        await context.report_progress(1, 2, "half")
        return "done"

    @server.resource("note://one")
    def one() -> str:
        return "a note"

    @server.prompt()
    def greet(name: str) -> str:
        return f"Greet {name}."

    server.run("stdio")


if sys.argv[1] == "client":
    asyncio.run(client(*sys.argv[2:]))
elif sys.argv[1] == "http":
    asyncio.run(tried(sys.argv[2], "legacy", sys.argv[3]))
elif sys.argv[1] == "oauth":
    asyncio.run(oauth(sys.argv[2]))
else:
    serve()
