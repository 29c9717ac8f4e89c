/** A caller's session in frames with an MCP server of its own: what waits for the server's answer, and what the member answers. */
import type * as Json from "@catenet/crypto/Json"
import { Effect, type Fiber } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { type Caller, textOf, type Tool } from "../rpc/Tool.ts"
import type { PassedCalls, SessionCalls } from "../rpc/ToolCalls.ts"
import type { Command } from "../serve/HandlerProcess.ts"
import type { FramedMessages } from "./FramedMessages.ts"
import { memberOf, unanswered } from "./McpResult.ts"
import type { ServerTools } from "./ServerTools.ts"
import { bytesOf, keyOf, passLine } from "./StdioTransport.ts"

export interface Serving {
  readonly command: Command
  /** The member's own tools. */
  readonly own: ReadonlyArray<Tool>
  readonly caller: Caller
  /** Watches the calls. */
  readonly calls: SessionCalls
  /** Whether another caller may be waiting for the place of this session. */
  readonly isWanted: () => boolean
}

export type Id = Json.Json

export const answerOf = (id: Id, result: Json.Json) => bytesOf({ jsonrpc: "2.0", id, result })
export const errorOf = (id: Id, code: bigint, message: string) =>
  bytesOf({ jsonrpc: "2.0", id, error: { code, message } })

/** A session: what waits for the server's answer, and what the member itself answers. */
export interface State extends Serving {
  readonly child: ChildProcessWithoutNullStreams
  readonly messages: FramedMessages
  /** Methods of the caller's requests that the server has to answer, by id. */
  readonly asked: Map<string, { readonly id: Id; readonly method: string; readonly isModern: boolean }>
  /** Own tools that run, by the id of their request. */
  readonly running: Map<string, Fiber.Fiber<void>>
  readonly run: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly tools: ServerTools
  readonly passed: PassedCalls
  /** Requests of this side to the server. */
  readonly mine: Map<string, (result: Json.Json | undefined) => void>
  next: number
  /** Messages so far, both ways. */
  count: number
}

export const toServer = ({ child: { stdin }, messages }: State, line: Uint8Array) => {
  if (!stdin.writable) return
  if (!passLine(stdin, line)) messages.hold(true)
}

/** Since 2026-07-28 every request says which revision it is of, and a result that it is whole. */
export const isModern = (params: Json.Json | undefined) =>
  memberOf(memberOf(params, "_meta"), "io.modelcontextprotocol/protocolVersion") !== undefined
export const whole = { resultType: "complete" }

export const forward = (state: State, line: Uint8Array, id: Id, method: string, params: Json.Json | undefined) => {
  const name = method === "tools/call" && params !== undefined ? textOf(params, "name") : undefined
  if (name !== undefined) state.passed.begin(keyOf(id), name, memberOf(params, "arguments") ?? {})
  state.asked.set(keyOf(id), { id, method, isModern: isModern(params) })
  toServer(state, line)
}

/** Runs what answers a request, so that the caller can cancel it. */
export const start = ({ run, running }: State, key: string, answering: Effect.Effect<void>) => {
  const fiber = run(answering)
  // It may have ended at once.
  if (fiber.pollUnsafe() === undefined) running.set(key, fiber)
}

/** Sends a call to the server, after the owner has allowed it if a rule asks for that. */
export const forwardCall = (state: State, line: Uint8Array, id: Id, name: string, params: Json.Json | undefined) => {
  const { calls, messages, passed, running } = state
  if (!calls.needsOwner(name)) return forward(state, line, id, "tools/call", params)
  const key = keyOf(id)
  const args = memberOf(params, "arguments") ?? {}
  passed.begin(key, name, args)
  const asking = Effect.matchEffect(calls.allowed(name, args), {
    onSuccess: () => Effect.sync(() => forward(state, line, id, "tools/call", params)),
    onFailure: ({ reason }) =>
      Effect.sync(() => {
        passed.end(key, "refused")
        messages.send(bytesOf(unanswered("tools/call", id, reason)))
      })
  })
  start(
    state,
    key,
    Effect.ensuring(
      asking,
      Effect.sync(() => running.delete(key))
    )
  )
}
