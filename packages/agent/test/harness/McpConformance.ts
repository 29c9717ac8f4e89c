/** An MCP server made with the official SDK that has what the protocol's own conformance suite asks for. */
import { fromJsonSchema, inputRequired, McpServer, ResourceTemplate } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
const textOf = (text: string) => ({ type: "text" as const, text })
const image = { type: "image" as const, data: png, mimeType: "image/png" }
const audio = { type: "audio" as const, data: wav, mimeType: "audio/wav" }
const embedded = (uri: string, text: string, mimeType = "text/plain") => ({
  type: "resource" as const,
  resource: { uri, mimeType, text }
})
type Texts = Record<string, string>
const schema = (more: object) => fromJsonSchema<Texts>({ type: "object", ...more } as never)
const string = { type: "string" }
const described = (name: string) => ({ description: `${name} of the suite` })

serveStdio(() => {
  const capabilities = { logging: {}, completions: {}, resources: { subscribe: true, listChanged: true } }
  const server = new McpServer({ name: "conformance", version: "1.0.0" }, { capabilities })

  const answers = {
    test_simple_text: [textOf("This is a simple text response for testing.")],
    test_image_content: [image],
    test_audio_content: [audio],
    test_embedded_resource: [embedded("test://embedded-resource", "This is an embedded resource content.")],
    test_multiple_content_types: [
      textOf("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "{}", "application/json")
    ]
  }
  for (const [name, content] of Object.entries(answers)) server.registerTool(name, described(name), () => ({ content }))
  server.registerTool("test_error_handling", described("the error"), () => {
    throw new Error("This tool intentionally returns an error for testing")
  })
  server.registerTool("test_tool_with_logging", described("the log"), async ({ mcpReq }) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"])
      await mcpReq.log("info", line)
    return { content: [textOf("done")] }
  })
  server.registerTool("test_tool_with_progress", described("progress"), async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0
    for (const progress of [0, 50, 100])
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } })
    return { content: [textOf("done")] }
  })

  const prompted = { ...described("sampling"), inputSchema: schema({ properties: { prompt: string } }) }
  server.registerTool("test_sampling", prompted, ({ prompt = "" }, { mcpReq: { inputResponses } }) => {
    if (inputResponses === undefined) {
      const thought = inputRequired.createMessage({
        messages: [{ role: "user", content: textOf(prompt) }],
        maxTokens: 100
      })
      return inputRequired({ inputRequests: { thought } })
    }
    const { thought } = inputResponses as { readonly thought: { readonly content: { readonly text: string } } }
    return { content: [textOf(`LLM response: ${thought.content.text}`)] }
  })
  const titled = ["First", "Second", "Third"].map((word, n) => ({ const: `value${n + 1}`, title: `${word} Option` }))
  const three = ["option1", "option2", "option3"]
  const legacy = ["opt1", "opt2", "opt3"]
  const legacyNames = ["Option One", "Option Two", "Option Three"]
  const asked = {
    test_elicitation: { username: string, email: string },
    test_elicitation_sep1034_defaults: {
      name: { ...string, default: "John Doe" },
      age: { type: "integer", default: 30 },
      score: { type: "number", default: 95.5 },
      status: { ...string, enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", default: true }
    },
    test_elicitation_sep1330_enums: {
      untitledSingle: { ...string, enum: three },
      titledSingle: { ...string, oneOf: titled },
      legacyEnum: { ...string, enum: legacy, enumNames: legacyNames },
      untitledMulti: { type: "array", items: { ...string, enum: three } },
      titledMulti: { type: "array", items: { anyOf: titled } }
    }
  }
  for (const [name, properties] of Object.entries(asked)) {
    const config = { ...described(name), inputSchema: schema({ properties: { message: string } }) }
    server.registerTool(name, config, ({ message = "Please" }, { mcpReq: { inputResponses } }) => {
      const requestedSchema = { type: "object", properties } as never
      if (inputResponses === undefined)
        return inputRequired({ inputRequests: { form: inputRequired.elicit({ message, requestedSchema }) } })
      const { form } = inputResponses as { readonly form: { readonly action: string; readonly content?: object } }
      const said = `action=${form.action}, content=${JSON.stringify(form.content ?? {})}`
      return { content: [textOf(`Elicitation completed: ${said}`)] }
    })
  }
  const dialect = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: { address: { type: "object", properties: { street: string, city: string } } },
    properties: { name: string, address: { $ref: "#/$defs/address" } },
    additionalProperties: false
  }
  const config = { ...described("a schema"), inputSchema: schema(dialect) }
  server.registerTool("json_schema_2020_12_tool", config, () => ({ content: [textOf("ok")] }))

  server.server.setRequestHandler("resources/subscribe", () => ({}))
  server.server.setRequestHandler("resources/unsubscribe", () => ({}))
  server.server.setRequestHandler("completion/complete", () => ({ completion: { values: [] } }))
  const texts = [
    ["test://static-text", "This is the content of the static text resource."],
    ["test://watched-resource", "watched"]
  ] as const
  for (const [uri, text] of texts)
    server.registerResource(uri, uri, { mimeType: "text/plain" }, () => ({
      contents: [{ uri, mimeType: "text/plain", text }]
    }))
  server.registerResource("binary", "test://static-binary", { mimeType: "image/png" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: png }]
  }))
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined })
  const mimeType = "application/json"
  server.registerResource("template", template, { mimeType }, ({ href }, { id }) => ({
    contents: [
      { uri: href, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }) }
    ]
  }))

  type Content = ReturnType<typeof textOf> | typeof image | ReturnType<typeof embedded>
  const said = (...contents: ReadonlyArray<Content>) => ({
    messages: contents.map((content) => ({ role: "user" as const, content }))
  })
  server.registerPrompt("test_simple_prompt", described("a prompt"), () =>
    said(textOf("This is a simple prompt for testing."))
  )
  server.registerPrompt("test_prompt_with_image", described("a prompt"), () =>
    said(image, textOf("Please analyze the image above."))
  )
  const args = (...names: ReadonlyArray<string>) =>
    schema({ properties: Object.fromEntries(names.map((name) => [name, string])), required: names })
  server.registerPrompt(
    "test_prompt_with_arguments",
    { ...described("a prompt"), argsSchema: args("arg1", "arg2") },
    ({ arg1, arg2 }) => said(textOf(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))
  )
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { ...described("a prompt"), argsSchema: args("resourceUri") },
    ({ resourceUri = "" }) =>
      said(
        embedded(resourceUri, "Embedded resource content for testing."),
        textOf("Please process the embedded resource above.")
      )
  )
  return server
})
