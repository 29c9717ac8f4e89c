/**
 * Whether a visitor of a host may pass. Asked by the proxy in front of the origin for every request; it sends on what is
 * answered as the visitor's identity, so that a visitor cannot claim one.
 */
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccessTokens } from "../access/AccessTokens.ts"
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

  /** An account that may visit: it is on the list, any account is, or the tunnel is its own. */
  const byToken = Effect.fnUntraced(function* (
    gate: { readonly tunnelId: string; readonly subject: string; readonly allowAnyLogin: boolean },
    bearer: Redacted.Redacted
  ) {
    const verified = yield* Effect.option(tokens.verify(bearer))
    if (Option.isNone(verified)) return Option.none<string>()
    const subject = verified.value
    if (gate.allowAnyLogin || gate.subject === subject) return Option.some<string>(subject)
    const listed = yield* store.isVisitor(gate.tunnelId, subject.toLowerCase())
    return listed.length > 0 ? Option.some<string>(subject) : Option.none<string>()
  })

  return {
    /** Who the visitor is, empty where nobody is asked; nothing for one who has to log in. */
    identify: Effect.fn("Gate.identify")(function* ({ bearer, host, session }: Visit) {
      const gate = yield* store.gateOf(host)
      if (Option.isNone(gate)) return Option.some("")
      if (Option.isSome(session)) {
        const identity = yield* sessions.identityOf(session.value, host)
        if (Option.isSome(identity)) return identity
      }
      return Option.isSome(bearer) ? yield* byToken(gate.value, bearer.value) : Option.none<string>()
    }, asDefects)
  }
})

export class Gate extends Context.Service<Gate, Effect.Success<typeof make>>()("server/Gate") {
  static readonly layer = Layer.effect(Gate, make)
}
