/**
 * Tells the control plane that an agent has proved its key, so that it can demand a proof of every agent of the tunnel. Only
 * where that may change something: the control plane knows the tunnel and has not said yet that proofs are needed.
 */
import { PublicKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, FiberSet, Layer, Schedule, Schema, Semaphore } from "effect"
import { HttpClientError } from "effect/http"
import { ControlPlane } from "../control/ControlPlane.ts"
import { Routes } from "../routes/Routes.ts"

/** Reports that wait; one more is dropped, and the agent's next registration brings it again. */
const maxWaiting = 10_000
const atOnce = 8

const again = Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("30 seconds")]).pipe(Schedule.jittered)
/** A control plane that does not know the route, or the question, will not know it the next time. */
const isFinal = (error: unknown) =>
  HttpClientError.isHttpClientError(error) && [400, 404].includes(error.response?.status ?? 0)
const readToken = Schema.decodeUnknownSync(RoutingToken)
const readKey = Schema.decodeUnknownSync(PublicKey)

export class ProofReports extends Context.Service<
  ProofReports,
  {
    /** An agent has proved the key (hex) for the token (hex). */
    readonly proved: (token: string, key: string) => void
  }
>()("edge/sessions/ProofReports") {
  static readonly make = Effect.gen(function* () {
    const routes = yield* Routes
    const { client } = yield* ControlPlane
    const run = yield* FiberSet.makeRuntime<never>()
    const permits = yield* Semaphore.make(atOnce)
    const waiting = new Set<string>()

    const matters = (token: string) =>
      (routes.agentProof(token) ?? (routes.knows(token) ? "optional" : undefined)) === "optional"

    const report = (token: string, key: string) =>
      client === undefined
        ? Effect.void
        : Effect.suspend(() => {
            if (!matters(token)) return Effect.void
            const payload = { token: readToken(token), key: readKey(key) }
            return permits.withPermit(client.agentProved({ payload }))
          }).pipe(Effect.retry({ schedule: again, while: (error) => !isFinal(error) }), Effect.ignore)

    return ProofReports.of({
      proved: (token, key) => {
        const name = `${token} ${key}`
        if (client === undefined || !matters(token) || waiting.has(name) || waiting.size >= maxWaiting) return
        waiting.add(name)
        run(
          Effect.ensuring(
            report(token, key),
            Effect.sync(() => waiting.delete(name))
          )
        )
      }
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Routes.layer]))
}
