/** One request of a peer, answered: the three methods, and the codes of their errors (signed-bytes.md 20). */
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Effect, Result } from "effect"
import { version } from "../../Version.ts"
import type { Caller, Tool } from "./Tool.ts"

const initialized: Json.Json = {
  protocolVersion: "2024-11-05",
  capabilities: { tools: {} },
  serverInfo: { name: "ct-agent", version }
}

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : 1)

const list = (tools: ReadonlyArray<Tool>): Json.Json => ({
  tools: tools
    .toSorted(byName)
    .map(({ description, listed = {}, name }) => Object.assign({ name, description }, listed))
})

const refuse = (id: Json.Json, code: Envelope.RpcError["code"], reason: string) =>
  Effect.fail(new Envelope.RpcError({ id, code, reason }))

const call = (request: Envelope.Request, tools: ReadonlyArray<Tool>, caller: Caller) =>
  Effect.gen(function* () {
    const { id } = request
    const { arguments: args, name } = yield* Effect.fromResult(Envelope.toolCall(request))
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return yield* refuse(id, Envelope.codes.invalidParams, `unknown tool: ${name}`)
    return yield* Effect.catchTag(tool.run(args, caller), "ToolFailed", ({ reason }) =>
      refuse(id, Envelope.codes.toolFailed, reason)
    )
  })

const resultOf = (request: Envelope.Request, tools: ReadonlyArray<Tool>, caller: Caller) => {
  switch (request.method) {
    case "initialize":
      return Effect.succeed(initialized)
    case "tools/list":
      return Effect.succeed(list(tools))
    case "tools/call":
      return call(request, tools, caller)
    default:
      return refuse(request.id, Envelope.codes.methodNotFound, `unknown method: ${request.method}`)
  }
}

/** The bytes of the response, which fit a frame. A defect of a tool is its failure, and says nothing of the inside. */
export const respond = Effect.fn("Dispatch.respond")(function* (
  message: Uint8Array,
  tools: ReadonlyArray<Tool>,
  caller: Caller
) {
  const read = Envelope.readRequest(message)
  if (Result.isFailure(read)) return Envelope.fitting(null, Envelope.failure(read.failure))
  const request = read.success
  return yield* resultOf(request, tools, caller).pipe(
    Effect.map((result) => Envelope.success(request.id, result)),
    Effect.catchTag("RpcError", (error) => Effect.succeed(Envelope.failure(error))),
    Effect.catchDefect((defect) =>
      Effect.as(
        Effect.logError("a tool failed", defect),
        Envelope.failure(
          new Envelope.RpcError({ id: request.id, code: Envelope.codes.internal, reason: "the tool failed inside" })
        )
      )
    ),
    Effect.map((response) => Envelope.fitting(request.id, response))
  )
})
