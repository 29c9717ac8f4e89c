/** A local MCP server made with the official SDK, as an operator would offer it to a peer. Run as a program. */
import { McpServer } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { writeFileSync } from "node:fs"

const server = new McpServer({ name: "tools of a test", version: "1.0.0" })
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })
const note = (line: string) => writeFileSync("mcp-server.log", `${line}\n`, { flag: "a" })

server.registerTool("whoami", { description: "Its process.", annotations: { readOnlyHint: true } }, () =>
  text(String(process.pid))
)
server.registerTool("secrets", { description: "Its own variables." }, () =>
  text(
    Object.keys(process.env)
      .filter((name) => /^(?:CT_|NEEDED|OTHER)/.test(name))
      .join()
  )
)
server.registerTool("fail", { description: "Fails." }, () => ({ ...text("it cannot be done"), isError: true }))
server.registerTool("crash", { description: "Ends the server." }, () => process.exit(3))
server.registerTool("grow", { description: "Adds a tool." }, () => {
  server.registerTool("grown", { description: "Was added." }, () => text("here"))
  return text("done")
})
server.registerTool("multiply", { description: "Adds a thousand tools that take 4 MB to list." }, () => {
  for (let n = 10; n < 1010; n++)
    server.registerTool(`many-${n}`, { description: "It is long. ".repeat(340) }, () => text(String(n)))
  return text("done")
})
for (const mebibytes of [8, 16])
  server.registerTool(`huge-${mebibytes}`, { description: "Answers so many MiB." }, () =>
    text("x".repeat(mebibytes * 1024 * 1024))
  )
server.registerTool("slow", { description: "Reports progress, then waits to be cancelled." }, async (context) => {
  const token = context.mcpReq._meta?.progressToken
  if (token !== undefined)
    await context.mcpReq.notify({
      method: "notifications/progress",
      params: { progressToken: token, progress: 1, total: 2, message: "half" }
    })
  await new Promise<void>((resolve) => context.mcpReq.signal.addEventListener("abort", () => resolve()))
  note("cancelled")
  return text("never seen")
})

await server.connect(new StdioServerTransport())
