/**
 * What the owner of a member sees of the calls of its tools: each is an event, a line of the log and a count; and those that a rule
 * names wait for the owner's word at the terminal. Arguments are shown there and in the inspector alone.
 */
import * as Json from "@catenet/crypto/Json"
import { redact } from "@catenet/domain/values/Redaction"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Deferred, Duration, Effect, Queue, type Scope, Semaphore } from "effect"
import { createInterface, type Interface } from "node:readline"
import type { Readable } from "node:stream"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { eventAnnotation, Events } from "../../observe/Events.ts"
import type { CallEnd } from "../../observe/Inspection.ts"
import { printable } from "../../terminal/Log.ts"
import { Screen } from "../../terminal/Screen.ts"
import { ToolFailed } from "./Tool.ts"

/** How calls end. */
type Outcome = "ok" | "error" | "refused" | "cancelled" | "lost"

/** To be called at the end, with the answer if there is one. */
export type End = (outcome: Outcome, answer?: Uint8Array) => void

/** The calls of one session's peer. */
export interface SessionCalls {
  /** A call begins. */
  readonly begin: (tool: string, args: Json.Json) => End
  /** Whether the owner is asked about any tool. */
  readonly hasRules: boolean
  readonly needsOwner: (tool: string) => boolean
  /** Waits for the owner; fails with the sentence for the caller. */
  readonly allowed: (tool: string, args: Json.Json) => Effect.Effect<void, ToolFailed>
}

/** Seconds for the owner to answer. */
const patienceSeconds = 60
/** Characters of arguments that are shown. */
const longestShown = 400
/** Calls that are written at once. */
const batch = 64

/** Whether a rule such as `write_*` names the tool. */
export const matches = (rule: string, tool: string): boolean =>
  new RegExp(`^${rule.replaceAll(/[.+?^${}()|[\]\\]/gu, "\\$&").replaceAll("*", ".*")}$`, "su").test(tool)

interface Question {
  readonly number: number
  readonly answer: Deferred.Deferred<boolean>
}

/** One question at a time; a line that was typed for another one answers nothing. */
class Terminal {
  #current: Question | undefined
  #isOver = false
  #next = 1
  readonly #reader: Interface

  constructor(input: Readable) {
    const reader = createInterface({ input, terminal: false })
    this.#reader = reader
    reader.on("line", (line) => {
      const current = this.#current
      if (current === undefined) return
      const word = line.trim()
      if (word === String(current.number)) return void Deferred.doneUnsafe(current.answer, Effect.succeed(true))
      if (!/^\d+$/u.test(word)) Deferred.doneUnsafe(current.answer, Effect.succeed(false))
    })
    reader.on("close", () => {
      this.#isOver = true
      if (this.#current !== undefined) Deferred.doneUnsafe(this.#current.answer, Effect.succeed(false))
    })
  }

  close(): void {
    this.#reader.close()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the owner has typed the number of the question. */
  ask(show: (number: number) => void): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const question: Question = { number: this.#next++, answer: Deferred.makeUnsafe() }
      if (this.#isOver) return Effect.succeed(false)
      this.#current = question
      show(question.number)
      return Effect.ensuring(
        Deferred.await(question.answer),
        Effect.sync(() => {
          if (this.#current === question) this.#current = undefined
        })
      )
    })
  }
}

/** Why there is no answer. */
const withoutAnswer: Readonly<Record<Outcome, string>> = {
  ok: "The tool answered nothing.",
  error: "The tool failed.",
  refused: "The owner did not allow the call.",
  cancelled: "The caller cancelled the call.",
  lost: "The session ended first."
}

const noTerminal = "needs the owner's confirmation, and nobody is at the terminal of its agent."
const refused = "was refused by its owner."
const late = `was not confirmed by its owner within ${patienceSeconds} s. Ask the owner, then call it again.`

export interface ToolCalls {
  /** The calls of a peer, by the name that events give it. */
  readonly by: (peer: string) => SessionCalls
}

/** Writes what has ended, many at once where there are many, and the rest at the end. */
const written = Effect.fnUntraced(function* (queue: Queue.Queue<string>) {
  const { ring } = yield* Events
  const put = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
    yield* ring.append(lines.join("\n"))
    for (const line of lines) yield* Effect.annotateLogs(Effect.logInfo("tool_call"), eventAnnotation, line)
  })
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(
      Effect.orElseSucceed(Queue.clear(queue), (): Array<string> => []),
      (lines) => (lines.length === 0 ? Effect.void : put(lines))
    )
  )
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.takeBetween(queue, 1, batch), put)))
})

/** `rules`: tools that need the owner, with `*` for any characters. `input`: where the owner types. */
export const make = Effect.fn("ToolCalls.make")(function* (
  rules: ReadonlyArray<string>,
  input: Readable
): Effect.fn.Return<ToolCalls, never, Scope.Scope | Events | AgentMetrics | Screen> {
  const { inspection, now, session, toolCalls } = yield* AgentMetrics
  const screen = yield* Screen
  const queue = yield* Queue.unbounded<string>()
  yield* written(queue)
  const terminal = rules.length === 0 ? undefined : new Terminal(input)
  yield* Effect.addFinalizer(() => Effect.sync(() => terminal?.close()))
  const asking = yield* Semaphore.make(1)
  /** One question of a peer waits at a time, so that none keeps the owner from the others'. */
  const turns = new Map<string, Semaphore.Semaphore>()

  const confirm = Effect.fnUntraced(function* (peer: string, tool: string, args: Json.Json) {
    if (terminal === undefined || terminal.isOver) return yield* new ToolFailed({ reason: `${tool} ${noTerminal}` })
    const turn = turns.get(peer) ?? Semaphore.makeUnsafe(1)
    turns.set(peer, turn)
    const shown = printable(redact(Json.write(args)).slice(0, longestShown))
    const question = terminal.ask((number) =>
      screen.log(
        `${peer.slice(0, 16)} wants to call ${printable(tool)} ${shown}. Type ${number} to allow it, n to refuse it.`
      )
    )
    const isAllowed = yield* turn
      .withPermits(1)(asking.withPermits(1)(question))
      .pipe(
        Effect.timeoutOrElse({
          duration: Duration.seconds(patienceSeconds),
          orElse: () => Effect.fail(new ToolFailed({ reason: `${tool} ${late}` }))
        })
      )
    if (!isAllowed) return yield* new ToolFailed({ reason: `${tool} ${terminal.isOver ? noTerminal : refused}` })
  })

  const ended = (
    { at, peer, tool }: { readonly peer: string; readonly tool: string; readonly at: number },
    outcome: Outcome,
    answer: Uint8Array | undefined,
    inspected: ((end: CallEnd) => void) | undefined
  ) => {
    inspected?.(answer === undefined ? { why: withoutAnswer[outcome] } : { answer })
    const end = now()
    const millis = Math.max(0, end - at)
    const bytes = answer?.length ?? 0
    toolCalls.byOutcome.set(outcome, (toolCalls.byOutcome.get(outcome) ?? 0) + 1)
    toolCalls.millis += millis
    toolCalls.bytes += bytes
    const fields = { peer, tool: tool.slice(0, 200), millis, bytes, outcome }
    const stamps = { ts: toUnixSeconds(end), session: session.id, conn: session.conn, kind: "tool_call" }
    Queue.offerUnsafe(queue, JSON.stringify({ ...fields, ...stamps }))
  }

  return {
    by: (peer) => ({
      hasRules: rules.length > 0,
      needsOwner: (tool) => rules.some((rule) => matches(rule, tool)),
      allowed: (tool, args) => confirm(peer, tool, args),
      begin: (tool, args) => {
        const at = now()
        const inspected = inspection.current?.called({ peer, tool, args })
        return (outcome, answer) => ended({ peer, tool, at }, outcome, answer, inspected)
      }
    })
  }
})

/** Runs a call of a tool that a result answers, and reports its end. */
export const watched = (
  calls: SessionCalls | undefined,
  tool: string,
  args: Json.Json,
  run: Effect.Effect<Json.Json, ToolFailed>
): Effect.Effect<Json.Json, ToolFailed> => {
  if (calls === undefined) return run
  return Effect.suspend(() => {
    const end = calls.begin(tool, args)
    let outcome: Outcome = "cancelled"
    let answer: Uint8Array | undefined
    const permitted = calls.needsOwner(tool)
      ? Effect.tapError(calls.allowed(tool, args), () => Effect.sync(() => (outcome = "refused")))
      : Effect.void
    const running = Effect.tap(run, (result) =>
      Effect.sync(() => {
        outcome = "ok"
        answer = Buffer.from(Json.write(result))
      })
    ).pipe(Effect.tapError(() => Effect.sync(() => (outcome = "error"))))
    return Effect.andThen(permitted, running).pipe(Effect.ensuring(Effect.sync(() => end(outcome, answer))))
  })
}

/** The calls of a session in frames that its MCP server answers, by the key of their ids. */
export class PassedCalls {
  readonly #calls: SessionCalls
  readonly #open = new Map<string, End>()

  constructor(calls: SessionCalls) {
    this.#calls = calls
  }

  begin(key: string, tool: string, args: Json.Json): void {
    if (!this.#open.has(key)) this.#open.set(key, this.#calls.begin(tool, args))
  }

  end(key: string, outcome: Outcome, answer?: Uint8Array): void {
    const end = this.#open.get(key)
    this.#open.delete(key)
    end?.(outcome, answer)
  }

  /** The session has ended. */
  close(): void {
    for (const key of this.#open.keys()) this.end(key, "lost")
  }
}
