/** An MCP server made with the official SDK that has every feature of the protocol, in whichever revision its client asks for. */
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })
const objectOf = (properties: Record<string, object>) =>
  fromJsonSchema<Record<string, string>>({ type: "object", properties, required: Object.keys(properties) } as never)
const string = { type: "string" }

serveStdio(() => {
  const capabilities = { logging: {}, resources: { subscribe: true, listChanged: true } }
  const server = new McpServer(
    { name: "features", version: "1.0.0" },
    { capabilities, instructions: "Ask before you look." }
  )

  server.registerTool("ask", { description: "Asks the client for three things." }, async ({ mcpReq }) => {
    const { inputResponses } = mcpReq
    if (inputResponses === undefined)
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: "Who?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } } }
          }),
          thought: inputRequired.createMessage({
            messages: [{ role: "user", content: { type: "text", text: "Think." } }],
            maxTokens: 5
          }),
          roots: inputRequired.listRoots()
        }
      })
    const { name } = acceptedContent(inputResponses, "name") ?? {}
    const { roots, thought } = inputResponses as {
      readonly roots: { readonly roots: ReadonlyArray<{ readonly uri: string }> }
      readonly thought: { readonly content: { readonly text: string } }
    }
    return text([name, thought.content.text, roots.roots[0]?.uri].join())
  })
  server.registerTool("open", { description: "Asks the client to open a page." }, async ({ mcpReq }) =>
    mcpReq.inputResponses === undefined
      ? inputRequired({
          inputRequests: { page: inputRequired.elicitUrl({ message: "Open.", url: "https://a.test/" }) }
        })
      : text(String((mcpReq.inputResponses["page"] as { readonly action: string }).action))
  )
  server.registerTool(
    "weather",
    { description: "Structured.", inputSchema: objectOf({ city: string }), outputSchema: objectOf({ sky: string }) },
    ({ city }) => ({ ...text(String(city)), structuredContent: { sky: "clear" } })
  )
  server.registerTool(
    "screenshot",
    { description: "Shows a screen of so many MiB.", inputSchema: objectOf({ size: string }) },
    ({ size }) => ({
      content: [
        { type: "image", mimeType: "image/png", data: Buffer.alloc(Number(size) * 2 ** 20, 7).toString("base64") }
      ]
    })
  )
  server.registerTool("log", { description: "Logs." }, async ({ mcpReq }) => {
    await mcpReq.log("warning", "it rains", "sky")
    return text("logged")
  })
  server.registerTool("wait", { description: "Reports progress, then waits to be cancelled." }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken !== undefined)
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: 1, message: "half" } })
    await new Promise<void>((resolve) => mcpReq.signal.addEventListener("abort", () => resolve()))
    return text("never seen")
  })
  server.registerTool("update", { description: "Changes a resource." }, async () => {
    await server.server.sendResourceUpdated({ uri: "note://one" })
    return text("updated")
  })

  // The official server leaves subscriptions of the older revisions to the application.
  server.server.setRequestHandler("resources/subscribe", () => ({}))
  const contents = (uri: URL, blob: string) => ({ contents: [{ uri: uri.href, blob, mimeType: "image/png" }] })
  server.registerResource("one", "note://one", { mimeType: "image/png" }, (uri) =>
    contents(uri, Buffer.alloc(9 * 1024 * 1024, 7).toString("base64"))
  )
  const template = new ResourceTemplate("note://of/{name}", {
    list: undefined,
    complete: { name: (start) => ["ada", "alan"].filter((each) => each.startsWith(start)) }
  })
  server.registerResource("of", template, {}, (uri, { name }) => contents(uri, String(name)))
  server.registerPrompt(
    "greet",
    {
      description: "Greets.",
      argsSchema: fromJsonSchema<{ readonly name: string }>({
        type: "object",
        properties: { name: { type: "string" } },
        required: ["name"]
      })
    },
    ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: `Greet ${name}.` } }] })
  )
  return server
})
