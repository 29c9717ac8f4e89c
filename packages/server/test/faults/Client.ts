/**
 * A client as it should be: it repeats what was not answered, at the other replica, with the same key where the route
 * takes one, and takes "it is so already" for an answer when it has asked before.
 */
import { assert } from "@effect/vitest"
import { Effect, Ref, Schedule } from "effect"

export type As = "operator" | "owner" | "guest" | "anonymous"

export interface Call {
  readonly as: As
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly body?: unknown
  /** The idempotency key, where the route takes one. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The status for a caller whose earlier request succeeded without an answer, where it is not the success status. */
  readonly again?: number
}

/** The server did not answer, or could not do it now. */
class Unanswered extends Error {}

const patience = "90 seconds"

/** What may happen to any request while something is down: no answer, a fault, no keys to verify a token with yet. */
const isPassing = (status: number, code: unknown) => status >= 500 || status === 429 || code === "RouteNotFound"

export const make = (options: {
  readonly urls: ReadonlyArray<string>
  readonly credentials: (as: As) => Readonly<Record<string, string>>
  /** Begins what happens beside the request with this number. */
  readonly beside: (step: number, replica: number) => Effect.Effect<void>
}) =>
  Effect.gen(function* () {
    const steps: Array<string> = []
    const faults: Array<string> = []
    const repeats = yield* Ref.make(0)
    let replica = 0

    const once = (call: Call) =>
      Effect.tryPromise(async () => {
        const body = typeof call.body === "string" ? call.body : JSON.stringify(call.body)
        const response = await fetch(`${options.urls[replica]}${call.path}`, {
          method: call.method,
          headers: {
            "content-type": "application/json",
            ...options.credentials(call.as),
            ...(call.key === undefined ? {} : { "idempotency-key": call.key }),
            ...call.headers
          },
          redirect: "manual",
          signal: AbortSignal.timeout(20_000),
          ...(call.body === undefined ? {} : { body })
        })
        const text = await response.text()
        const answer = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : undefined
        // What passes is declared; a server that blames itself has not understood what happened.
        if (answer?.code === "InternalFailure") faults.push(`${call.method} ${call.path}`)
        if (isPassing(response.status, answer?.code)) throw new Unanswered(`${response.status} ${text}`)
        return { status: response.status, body: answer }
      })

    /** Asks until there is an answer; what was asked for must have been given. */
    const ask = (call: Call): Effect.Effect<any> =>
      Effect.gen(function* () {
        const name = `${call.method} ${call.path.replaceAll(/[0-9a-f]{32,}/g, "…")}`
        yield* options.beside(steps.push(name) - 1, replica)
        let asked = 0
        let why: unknown
        const { body, status } = yield* Effect.suspend(() => {
          asked++
          return once(call)
        }).pipe(
          Effect.tapError(({ cause }) => {
            why = cause
            replica = (replica + 1) % options.urls.length
            return Ref.update(repeats, (n) => n + 1)
          }),
          Effect.retry(Schedule.spaced("100 millis")),
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.die(new Unanswered(`${name}: ${why}`)) }),
          Effect.orDie
        )
        const isFine = (status >= 200 && status < 300) || (asked > 1 && status === call.again)
        assert(isFine, `${name}: ${status} at attempt ${asked}, ${JSON.stringify(body)}`)
        return body
      })

    return { ask, steps, faults, repeats: Ref.get(repeats) }
  })

export type Client = Effect.Success<ReturnType<typeof make>>
