/**
 * Whether a visitor of a host may pass. Asked by the proxy in front of the origin for every request; it sends on what is
 * answered as the visitor's identity, so that a visitor cannot claim one.
 */
import { HostNotGated } from "@catenet/domain/errors/Gate"
import type { Email } from "@catenet/domain/Email"
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccessTokens } from "../access/AccessTokens.ts"
import { unixSeconds } from "../Now.ts"
import { asDefects } from "../store/Defects.ts"
import { GateSessions } from "./GateSessions.ts"
import * as Store from "./Store.ts"

/** What a visitor shows; `host` in lower case. */
export interface Visit {
  readonly host: string
  readonly session: Option.Option<Redacted.Redacted>
  readonly bearer: Option.Option<Redacted.Redacted>
}

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const sessions = yield* GateSessions
  const tokens = yield* AccessTokens

  /** Whether an account may visit: it is on the list, any account may, or the tunnel is its own. */
  const admits = Effect.fnUntraced(function* (gate: Store.Gate, subject: string, email: Email | null) {
    if (gate.allowAnyLogin || gate.subject === subject) return true
    const names = email === null ? [subject.toLowerCase()] : [subject.toLowerCase(), email]
    return (yield* store.isVisitor(gate.tunnelId, names)).length > 0
  })

  const byToken = Effect.fnUntraced(function* (gate: Store.Gate, bearer: Redacted.Redacted) {
    const verified = yield* Effect.option(tokens.verify(bearer))
    if (Option.isNone(verified)) return Option.none<string>()
    return (yield* admits(gate, verified.value, null)) ? Option.some<string>(verified.value) : Option.none<string>()
  })

  const gated = Effect.fnUntraced(function* (host: string) {
    const gate = yield* store.gateOf(host)
    return yield* Option.isSome(gate) ? Effect.succeed(gate.value) : new HostNotGated()
  })

  return {
    admits,
    /** The gate of a host, where it has one. */
    of: (host: string) => gated(host).pipe(asDefects),

    /** Whether a host belongs to a tunnel, gated or not. */
    knows: (host: string) => Effect.orDie(Effect.map(store.isHost(host), (rows) => rows.length > 0)),

    /** Who the visitor is, empty where nobody is asked; nothing for one who has to log in. */
    identify: Effect.fn("Gate.identify")(function* ({ bearer, host, session }: Visit) {
      const gate = yield* store.gateOf(host)
      if (Option.isNone(gate)) return Option.some("")
      if (Option.isSome(session)) {
        const identity = yield* sessions.identityOf(session.value, host)
        if (Option.isSome(identity)) return identity
      }
      return Option.isSome(bearer) ? yield* byToken(gate.value, bearer.value) : Option.none<string>()
    }, asDefects),

    /** Leaves a request to be let in with the owner. Asking again changes nothing. */
    request: Effect.fn("Gate.request")(function* (host: string, email: Email, note: string) {
      yield* gated(host)
      yield* store.request(host, email, note, yield* unixSeconds)
    }, asDefects)
  }
})

export class Gate extends Context.Service<Gate, Effect.Success<typeof make>>()("server/Gate") {
  static readonly layer = Layer.effect(Gate, make)
}
