"""A client and a server made with the official Python SDK. `client MODE COMMAND ARGS...` prints what it got as JSON, and
`http URL PREFIX` the same of a gateway's peer."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters, types
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel


async def elicit(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def sample(_context, _params):
    content = types.TextContent(type="text", text="thought")
    return types.CreateMessageResult(role="assistant", model="m", content=content)


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


async def client(mode, command, *args):
    await tried(StdioServerParameters(command=command, args=list(args), env=dict(os.environ)), mode, "")


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
else:
    serve()
