/**
 * Whether an agent may call for a tunnel. Grantees and former agents know the routing token: where the agents of a
 * tunnel must prove an enrolled key to an edge, they must prove it here too, for each request.
 */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { AgentProofRequired } from "@catenet/domain/certificates/AdmissionErrors"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { AgentKeyStore } from "../edges/AgentKeyStore.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** Seconds by which the clocks may differ, and for which a proof that was overheard could be repeated. */
const maxSeconds = 120

const readToken = Schema.decodeOption(RoutingToken)

export class AgentProofs extends Context.Service<
  AgentProofs,
  {
    /** Lets the request go on. One with a token of no tunnel goes on too, and is refused for that. */
    readonly admit: (
      token: Redacted.Redacted
    ) => Effect.Effect<void, AgentProofRequired, HttpServerRequest.HttpServerRequest>
    /** The id of the tunnel that has this token, for an agent that proves an enrolled key whether the tunnel demands it or not. */
    readonly holder: (
      token: RoutingToken
    ) => Effect.Effect<string, AgentProofRequired, HttpServerRequest.HttpServerRequest>
    /**
     * The routing token of the tunnel that has or had this one, for an agent that proves an enrolled key. A token of no tunnel
     * is answered as one of a tunnel for which the key is not enrolled.
     */
    readonly successor: (
      token: RoutingToken
    ) => Effect.Effect<RoutingToken, AgentProofRequired, HttpServerRequest.HttpServerRequest>
  }
>()("server/enrollment/AgentProofs") {
  static readonly make = Effect.gen(function* () {
    const { demanded, holders, successor } = yield* AgentKeyStore

    const judged = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const proof = AgentRequest.read(request.headers[AgentRequest.header] ?? "")
      if (proof === undefined) return yield* new AgentProofRequired({ reason: "missing" })
      // What costs little is looked at first.
      if (!keys.includes(Hex.encode(proof.key))) return yield* new AgentProofRequired({ reason: "not-enrolled" })
      const age = (yield* unixSeconds) - Number(proof.issuedAt)
      if (Math.abs(age) > maxSeconds) return yield* new AgentProofRequired({ reason: "stale" })
      const [path = ""] = request.url.split("?")
      const body = new Uint8Array(yield* Effect.orDie(request.arrayBuffer))
      const isHolding = AgentRequest.verify(native, { method: request.method, path, body }, proof)
      if (!isHolding) return yield* new AgentProofRequired({ reason: "invalid" })
    })

    return {
      admit: Effect.fn("AgentProofs.admit")(function* (given: Redacted.Redacted) {
        const token = readToken(Redacted.value(given))
        const found = Option.isSome(token) ? yield* demanded(token.value) : Option.none()
        if (Option.isSome(found)) yield* judged(found.value.keys)
      }, sqlOrDie),

      holder: Effect.fn("AgentProofs.holder")(function* (token: RoutingToken) {
        const found = yield* holders(token)
        yield* judged(Option.match(found, { onNone: () => [], onSome: ({ keys }) => keys }))
        return (yield* Effect.fromOption(found)).id
      }, sqlOrDie),

      successor: Effect.fn("AgentProofs.successor")(function* (token: RoutingToken) {
        const found = yield* successor(token)
        yield* judged(Option.match(found, { onNone: () => [], onSome: ({ keys }) => keys }))
        return (yield* Effect.fromOption(found)).routingToken
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(AgentProofs, AgentProofs.make)
  static readonly layer = AgentProofs.layerNoDeps.pipe(Layer.provide([AgentKeyStore.layer]))
}
