/** What people call tools with today: the official SDK's server and client over its streamable HTTP transport, on loopback. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

const requestOf = async (incoming: IncomingMessage, origin: string) => {
  const { headers, method = "GET", url = "/" } = incoming
  const bytes = method === "POST" ? await buffer(incoming) : undefined
  const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Request(`${origin}${url}`, {
    method,
    headers: fields,
    ...(bytes === undefined ? {} : { body: new Uint8Array(bytes) })
  })
}

const respond = async ({ body, headers, status }: Response, outgoing: ServerResponse) => {
  outgoing.writeHead(status, Object.fromEntries(headers))
  if (body !== null) for await (const chunk of body) outgoing.write(chunk)
  outgoing.end()
}

/** A client of a server that wants a token. */
export const connected = async (url: string, token: string): Promise<Client> => {
  const client = new Client({ name: "test", version: "1.0.0" })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

/** A server with the tool `ping`, and a connected client. */
export const start = async () => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool("ping", { description: "Answers pong." }, () => ({ content: [{ type: "text", text: "pong" }] }))
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID() })
  await server.connect(transport)
  const listener = createServer((incoming, outgoing) => {
    void (async () => {
      try {
        await respond(await transport.handleRequest(await requestOf(incoming, "http://127.0.0.1")), outgoing)
      } catch {
        outgoing.destroy()
      }
    })()
  })
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  const { port } = listener.address() as AddressInfo
  const client = new Client({ name: "bench", version: "1.0.0" })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  return {
    ping: () => client.callTool({ name: "ping" }),
    close: async () => {
      await client.close()
      await server.close()
      listener.closeAllConnections()
      listener.close()
    }
  }
}
