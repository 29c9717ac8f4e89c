/** The official MCP SDK's client, started as an entry of `mcpServers` says. */
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

export interface McpEntry {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** Connected; it ends its server when it is closed. */
export const connectMcp = async ({ args, command }: McpEntry, env: Record<string, string>): Promise<Client> => {
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(new StdioClientTransport({ command, args: [...args], env, stderr: "ignore" }))
  return client
}
