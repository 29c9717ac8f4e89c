/**
 * Whether a visitor of a host may pass: the edge that serves the host asks, or a proxy in front of the origin. The
 * identity in the answer goes on to the origin, so that a visitor cannot claim one.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { HostNotGated } from "@catenet/domain/tunnels/GateErrors"
import { GateAnswer } from "@catenet/domain/tunnels/GateVisit"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import type { Email } from "@catenet/domain/values/Email"
import type { Hex64 } from "@catenet/domain/values/Hex"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import {
  accessRequestSeconds,
  maxAccessRequestsPerBlock,
  maxAccessRequestsPerTunnel
} from "@catenet/domain/values/Quotas"
import { Context, Effect, Layer, Option, type Redacted, type Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { AccessTokens } from "../identity/AccessTokens.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Sealing } from "../store/Sealing.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { AssertionKeys } from "../tunnels/AssertionKeys.ts"
import * as Store from "../tunnels/GateStore.ts"

/** The table of requests to be let in. Strangers write to it, so one tunnel and one block of addresses each fill a part only. */
interface AccessRequest {
  readonly tunnelId: string
  readonly email: string
  readonly note: string
  readonly at: number
  /** A pseudonym of the block of addresses that the request came from. */
  readonly block: string
}

export const makeAccessRequestStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** One who is let in already, has asked before, or comes after too many others leaves nothing. */
    add: ({ at, block, email, note, tunnelId }: AccessRequest) =>
      Effect.andThen(
        // Those of one tunnel are counted one after the other. The owner's commands do not wait for this lock.
        sql`select pg_advisory_xact_lock(hashtextextended(${tunnelId}, 46))`,
        sql`
          insert into tunnel_access_requests (tunnel_id, email, note, at, block)
          select ${tunnelId}, ${email}, ${note}, ${at}::bigint, ${block}::text
          where not exists (select 1 from tunnel_visitors v where v.tunnel_id = ${tunnelId} and v.email = ${email})
            and exists (select 1 from tunnels t where t.id = ${tunnelId} and t.require_login)
            and (select count(*) < ${maxAccessRequestsPerTunnel}
                and count(*) filter (where r.block = ${block}) < ${maxAccessRequestsPerBlock}
              from tunnel_access_requests r where r.tunnel_id = ${tunnelId})
          on conflict do nothing`
      ).pipe(sql.withTransaction),
    prune: (now: number) => sql`delete from tunnel_access_requests where at <= ${now - accessRequestSeconds}`
  }
})

/** What a visitor shows; `host` in lower case. */
export interface Visit {
  readonly host: string
  readonly session: Option.Option<Redacted.Redacted>
  readonly bearer: Option.Option<Redacted.Redacted>
}

/** What a visitor asks with; `from` is the block of addresses that it comes from. */
interface Asked {
  readonly email: Email
  readonly note: string
  readonly from: string
}

/** A header takes no more than ASCII: what is beyond is percent-encoded, as in an address. */
const inAscii = (text: string) => text.replace(/[^\u0020-\u007e]/gu, encodeURIComponent)

const hashOf = (session: Option.Option<Redacted.Redacted>) =>
  Option.match(session, { onNone: () => "", onSome: (token) => TokenEncoding.hashText(native, token) })

interface Identified {
  /** Empty where visitors need no login; none for a visitor who has to log in. */
  readonly identity: Option.Option<string>
  readonly subject?: string
  readonly expiresAt: number | null
}

const unknown: Identified = { identity: Option.none(), expiresAt: null }

export class Gate extends Context.Service<
  Gate,
  {
    /** Whether an account may visit: it is on the list, any account may, or the tunnel is its own. */
    readonly admits: (
      gate: Store.Gate,
      subject: string,
      email: Email | null
    ) => Effect.Effect<boolean, Schema.SchemaError | SqlError.SqlError>
    /** The gate of a host, where it has one. */
    readonly of: (host: string) => Effect.Effect<Store.Gate, HostNotGated>
    /** Whether a host belongs to a tunnel, gated or not. */
    readonly knows: (host: string) => Effect.Effect<boolean>
    /** For a proxy. A host that belongs to no tunnel has no gate. */
    readonly identify: (visit: Visit) => Effect.Effect<Option.Option<string>>
    /** For an edge, which asks about hosts that it serves only: one that belongs to no tunnel lost its owner, and is closed. */
    readonly answer: (host: string, session: Visit["session"]) => Effect.Effect<GateAnswer>
    /** The same by the hash of the session's token, for an agent that serves the host. */
    readonly answerToAgent: (host: string, session: Hex64) => Effect.Effect<GateAnswer>
    /** Where visitors sign in; null where that is not possible. */
    readonly signIn: string | null
    /** Leaves a request to be let in with the owner. Asking again changes nothing. */
    readonly request: (host: string, asked: Asked) => Effect.Effect<void, HostNotGated>
    /** Deletes requests that have waited too long. */
    readonly prune: Effect.Effect<void>
  }
>()("server/gate/Gate") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.GateStore
    const requests = yield* makeAccessRequestStore
    const sealing = yield* Sealing
    const keys = yield* AssertionKeys
    const tokens = yield* AccessTokens
    const { gateCookieDomain, portalBaseUrl } = yield* Settings

    /** Whether an account may visit: it is on the list, any account may, or the tunnel is its own. */
    const admits = Effect.fnUntraced(function* (gate: Store.Gate, subject: string, email: Email | null) {
      if (gate.allowAnyLogin || gate.subject === subject) return true
      // A subject that is spelled as an address on the list is another's.
      return email !== null && (yield* store.isVisitor(gate.tunnelId, email)).length > 0
    })
    const byToken = Effect.fnUntraced(function* (host: string, bearer: Redacted.Redacted) {
      const gate = yield* store.gateOf(host)
      const verified = yield* Effect.option(tokens.verifyForGate(bearer))
      if (Option.isNone(gate) || Option.isNone(verified)) return Option.none<string>()
      // A program has no address: its owner lists the subject of its token.
      const isListed = (yield* store.isVisitor(gate.value.tunnelId, lowerAscii(verified.value))).length > 0
      return isListed || (yield* admits(gate.value, verified.value, null))
        ? Option.some<string>(verified.value)
        : Option.none()
    })

    const gated = Effect.fnUntraced(function* (host: string) {
      const gate = yield* store.gateOf(host)
      return yield* Option.isSome(gate) ? Effect.succeed(gate.value) : new HostNotGated()
    })

    /** An e-mail address, an account without one, or `share:` and the id of a link. */
    const bySession = Effect.fnUntraced(function* (host: string, tokenHash: string) {
      const found = yield* store.visit({ tokenHash, host, now: yield* unixSeconds })
      if (Option.isNone(found)) return Option.none<Identified>()
      const { email, expiresAt, requireLogin, shareLinkId, subject } = found.value
      if (!requireLogin) return Option.some<Identified>({ identity: Option.some(""), expiresAt: null })
      if (expiresAt === null) return Option.some(unknown)
      const named = inAscii(subject ?? `share:${shareLinkId}`)
      return Option.some({ identity: Option.some(email === null ? named : inAscii(email)), subject: named, expiresAt })
    })

    const signIn = gateCookieDomain === undefined ? null : new URL("/gate/start", portalBaseUrl).href

    const answered = Effect.fnUntraced(function* (host: string, tokenHash: string) {
      const { expiresAt, identity, subject } = Option.getOrElse(yield* bySession(host, tokenHash), () => unknown)
      return new GateAnswer({
        identity: Option.getOrNull(identity),
        ...(subject === undefined ? {} : { subject }),
        expires_at: expiresAt === null ? null : UnixSeconds.make(expiresAt),
        sign_in: signIn
      })
    })

    return {
      admits,
      of: (host: string) => gated(host).pipe(sqlOrDie),

      knows: (host: string) => Effect.orDie(Effect.map(store.isHost(host), (rows) => rows.length > 0)),

      identify: Effect.fn("Gate.identify")(function* ({ bearer, host, session }: Visit) {
        const found = yield* bySession(host, hashOf(session))
        if (Option.isNone(found)) return Option.some("")
        const { identity } = found.value
        return Option.isNone(identity) && Option.isSome(bearer) ? yield* byToken(host, bearer.value) : identity
      }, sqlOrDie),

      signIn,
      answer: Effect.fn("Gate.answer")(function* (host: string, session: Visit["session"]) {
        const answer = yield* answered(host, hashOf(session))
        return Option.isSome(session) ? answer : new GateAnswer({ ...answer, assertion_keys: yield* keys.ofHost(host) })
      }, sqlOrDie),
      answerToAgent: Effect.fn("Gate.answerToAgent")(answered, sqlOrDie),

      request: Effect.fn("Gate.request")(function* (host: string, { email, from, note }: Asked) {
        const { tunnelId } = yield* gated(host)
        const block = sealing.pseudonym("tunnel_access_requests.block", from)
        yield* requests.add({ tunnelId, email, note, at: yield* unixSeconds, block })
      }, sqlOrDie),

      prune: Effect.asVoid(Effect.orDie(Effect.flatMap(unixSeconds, requests.prune)))
    }
  })

  static readonly layerNoDeps = Layer.effect(Gate, Gate.make)
  static readonly layer = Gate.layerNoDeps.pipe(
    Layer.provide([AccessTokens.layer, AssertionKeys.layer, Store.GateStore.layer])
  )
}
