/** Answers one request of a peer: the three methods and their error codes (signed-bytes.md 20). */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import * as Permission from "@catenet/crypto/Permission"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { maxMessage } from "@catenet/crypto/rpc/Envelope"
import { Effect, Result } from "effect"
import { version } from "../../Version.ts"
import * as Notification from "./Notification.ts"
import { type Caller, type JsonObject, textOf, type Tool } from "./Tool.ts"
import { type SessionCalls, watched } from "./ToolCalls.ts"

// Tools by name in pages: a list too long for a message continues at a cursor, as in MCP, which is the last name of the page.

/** The rest is for the response around it. */
const pageBytes = maxMessage - 1024

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : 1)

const bytesOf = (entry: JsonObject) => Bytes.fromText(`${Json.write(entry).toWellFormed()},`).length

/** A tool with a too long schema is listed without it; one with a too long name is omitted. */
const shortest = ({ description, listed = {}, name }: Tool) =>
  [
    { name, description, ...listed },
    { name, description: "" }
  ]
    .map((entry) => ({ entry, bytes: bytesOf(entry) }))
    .find(({ bytes }) => bytes <= pageBytes)

export const toolPage = (tools: ReadonlyArray<Tool>, cursor: string | undefined): JsonObject => {
  const entries: Array<JsonObject> = []
  let [left, last] = [pageBytes, ""]
  for (const tool of tools.toSorted(byName)) {
    if (cursor !== undefined && tool.name <= cursor) continue
    const found = shortest(tool)
    if (found === undefined) continue
    if (found.bytes > left) return { tools: entries, nextCursor: last }
    entries.push(found.entry)
    left -= found.bytes
    last = tool.name
  }
  return { tools: entries }
}

const initialized = (request: Envelope.Request): Json.Json => ({
  protocolVersion: "2024-11-05",
  capabilities: Notification.isAskedBy(request) ? Notification.accepted : { tools: {} },
  serverInfo: { name: "ct-agent", version }
})

const refuse = (id: Json.Json, code: Envelope.RpcError["code"], reason: string) =>
  Effect.fail(new Envelope.RpcError({ id, code, reason }))

/** Why a caller is refused, and what to do. */
export const grantOf = ({ rights }: Caller) =>
  `Your grant permits ${rights === "r" ? "reading alone (r)" : "writing alone (w)"}; ask the operator of the channel for one with rw.`

type Report = ((progress: JsonObject) => void) | undefined

const call = (
  request: Envelope.Request,
  tools: ReadonlyArray<Tool>,
  caller: Caller,
  report: Report,
  calls: SessionCalls | undefined
) =>
  Effect.gen(function* () {
    const { id } = request
    const { arguments: args, name } = yield* Effect.fromResult(Envelope.toolCall(request))
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return yield* refuse(id, Envelope.codes.invalidParams, `unknown tool: ${name}`)
    if (!tool.isReadOnly && !Permission.mayWrite(caller.rights))
      return yield* refuse(id, Envelope.codes.toolFailed, `${name} may change something. ${grantOf(caller)}`)
    const mayRead = Permission.mayRead(caller.rights)
    const run = watched(calls, name, args, tool.run(args, caller, mayRead ? report : undefined))
    if (!mayRead) return yield* unseen(id, run)
    return yield* Effect.catchTag(run, "ToolFailed", ({ reason }) => refuse(id, Envelope.codes.toolFailed, reason))
  })

/** The tool runs; its caller learns that it ended, but not how. */
const unseen = (id: Json.Json, run: ReturnType<Tool["run"]>) =>
  run.pipe(
    Effect.as(null),
    Effect.catchTag("ToolFailed", () => refuse(id, Envelope.codes.toolFailed, "the tool failed"))
  )

const resultOf = (
  request: Envelope.Request,
  tools: ReadonlyArray<Tool>,
  caller: Caller,
  report: Report,
  calls: SessionCalls | undefined
) => {
  switch (request.method) {
    case "initialize":
      return Effect.succeed(initialized(request))
    case "tools/list":
      return Permission.mayRead(caller.rights)
        ? Effect.succeed(toolPage(tools, textOf(request.params ?? null, "cursor")))
        : refuse(request.id, Envelope.codes.toolFailed, `the tools are not listed. ${grantOf(caller)}`)
    case "tools/call":
      return call(request, tools, caller, report, calls)
    default:
      return refuse(request.id, Envelope.codes.methodNotFound, `unknown method: ${request.method}`)
  }
}

/** The bytes of the response, limited to a frame. A defect of a tool becomes a failure without internal details. */
export const respond = Effect.fn("RpcDispatch.respond")(function* (
  read: ReturnType<typeof Envelope.readRequest>,
  tools: ReadonlyArray<Tool>,
  caller: Caller,
  report?: Report,
  calls?: SessionCalls
) {
  if (Result.isFailure(read)) return Envelope.fitting(null, Envelope.failure(read.failure))
  const request = read.success
  return yield* resultOf(request, tools, caller, report, calls).pipe(
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

/** The bytes of the response to a caller with whom this side goes on in frames. */
export const framed = (id: Json.Json): Uint8Array =>
  Envelope.fitting(
    id,
    Envelope.success(id, {
      protocolVersion: "2024-11-05",
      capabilities: Notification.acceptedFrames,
      serverInfo: { name: "ct-agent", version }
    })
  )

/** The bytes of the response to a request that its caller has cancelled. */
export const cancelled = (id: Json.Json): Uint8Array =>
  Envelope.fitting(
    id,
    Envelope.failure(new Envelope.RpcError({ id, code: Envelope.codes.toolFailed, reason: "cancelled" }))
  )
