/** A local MCP server as its client sees it: a command that speaks JSON-RPC on stdin and stdout, one message a line. */
import type * as Json from "@catenet/crypto/Json"
import * as JsonText from "@catenet/crypto/Json"
import { Effect } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { isObject, type JsonObject, ToolFailed } from "../rpc/Tool.ts"
import { memberOf } from "./McpResult.ts"
import { readLines, type Unreadable, writeLine } from "./StdioTransport.ts"

type Answer = Effect.Effect<Json.Json, ToolFailed>

export interface Listeners {
  readonly onNotification: (method: string) => void
  readonly onUnreadable: (line: Unreadable) => void
  /** Is called once. */
  readonly onEnd: () => void
}

/** What a call gets while there is no server; it is started again. */
export const restarting = new ToolFailed({
  reason: "the MCP server has ended and is being restarted: try again in a few seconds"
})

export class McpProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #waiting = new Map<bigint, (answer: Answer) => void>()
  readonly #progress = new Map<bigint, (progress: JsonObject) => void>()
  readonly #onNotification: (method: string) => void
  #next = 1n
  #isOver = false

  constructor(child: ChildProcessWithoutNullStreams, { onEnd, onNotification, onUnreadable }: Listeners) {
    this.#child = child
    this.#onNotification = onNotification
    child.once("close", () => {
      this.#isOver = true
      for (const settle of this.#waiting.values())
        settle(
          Effect.fail(new ToolFailed({ reason: "the MCP server has ended during the call and is being restarted" }))
        )
      onEnd()
    })
    readLines(child.stdout, {
      onMessage: (message) => this.#receive(message),
      onBatch: (messages) => {
        for (const message of messages) if (isObject(message)) this.#receive(message)
      },
      onUnreadable: (line) => {
        const { id, isRequest, why } = line
        onUnreadable(line)
        if (typeof id === "bigint" && !isRequest)
          this.#waiting.get(id)?.(Effect.fail(new ToolFailed({ reason: `the answer of the MCP server ${why}` })))
      }
    })
  }

  notify(method: string, params: JsonObject = {}): void {
    writeLine(this.#child.stdin, { jsonrpc: "2.0", method, params })
  }

  /** The result, or the server's error as a failure. Interruption cancels the request at the server. */
  request(method: string, params: JsonObject, report?: (progress: JsonObject) => void): Answer {
    return Effect.callback<Json.Json, ToolFailed>((resume) => {
      if (this.#isOver) return resume(Effect.fail(restarting))
      const id = this.#next++
      const settle = (answer: Answer) => {
        this.#waiting.delete(id)
        this.#progress.delete(id)
        resume(answer)
      }
      this.#waiting.set(id, settle)
      if (report !== undefined) this.#progress.set(id, report)
      const meta = report === undefined ? {} : { _meta: { progressToken: id } }
      writeLine(this.#child.stdin, { jsonrpc: "2.0", id, method, params: { ...params, ...meta } })
      return Effect.sync(() => {
        this.#waiting.delete(id)
        this.#progress.delete(id)
        this.notify("notifications/cancelled", { requestId: id, reason: "the caller has cancelled" })
      })
    })
  }

  #receive(message: JsonObject) {
    const id = memberOf(message, "id")
    const method = memberOf(message, "method")
    if (typeof method === "string") return this.#asked(method, id, memberOf(message, "params"))
    if (typeof id !== "bigint") return
    const error = memberOf(message, "error")
    const reason = memberOf(error, "message")
    this.#waiting.get(id)?.(
      error === undefined
        ? Effect.succeed(memberOf(message, "result") ?? null)
        : Effect.fail(new ToolFailed({ reason: typeof reason === "string" ? reason : JsonText.write(error) }))
    )
  }

  #asked(method: string, id: Json.Json | undefined, params: Json.Json | undefined) {
    if (id !== undefined) {
      const known = method === "ping"
      const answer = known ? { result: {} } : { error: { code: -32_601n, message: `unknown method: ${method}` } }
      return writeLine(this.#child.stdin, { jsonrpc: "2.0", id, ...answer })
    }
    const token = memberOf(params, "progressToken")
    if (method !== "notifications/progress") return this.#onNotification(method)
    if (typeof token === "bigint" && isObject(params)) this.#progress.get(token)?.(params)
  }
}
