/**
 * A new routing token for a tunnel. The tunnel keeps its hostnames with their certificate admission, its access window,
 * links, keys and records; the old token is revoked. All of it is one transaction, and edges get it through the outbox:
 * a crash leaves the old token in force everywhere, or the new one as soon as each edge answers.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { Tier } from "@catenet/domain/edges/EdgeNode"
import { PublicPort } from "@catenet/domain/edges/PublicPort"
import { isAnyOn, TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import { StoredRules } from "@catenet/domain/rules/Rules"
import { RotatedToken } from "@catenet/domain/tunnels/Tunnel"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { TunnelId } from "@catenet/domain/values/Ids"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { AgentKeyStore } from "../edges/AgentKeyStore.ts"
import { portOf } from "../edges/EdgeStore.ts"
import { Outbox } from "../edges/Outbox.ts"
import { authorizeHost } from "../edges/OutboxStore.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { Audits } from "../identity/Audits.ts"
import { freshHex64, hashToken } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

/** A tunnel's routing token is replaced wherever it stands: the tunnel itself and its hostnames. */
const Held = Schema.Struct({
  id: TunnelId,
  routingToken: RoutingToken,
  accessPolicy: Schema.NullOr(AccessPolicy),
  options: TunnelOptions,
  requireLogin: Schema.Boolean,
  publicPort: Schema.NullOr(PublicPort),
  rules: StoredRules
})
type Held = typeof Held.Type

const Moved = Schema.Struct({
  hostname: TunnelHostname,
  tier: Tier,
  admissionUntil: Schema.NullOr(UnixSeconds)
})

const Rotation = Schema.Struct({
  id: TunnelId,
  old: RoutingToken,
  fresh: RoutingToken,
  /** The hash of the old token, for a tunnel whose records have no other name yet. */
  recordsName: Schema.String,
  now: Schema.Int
})
type Rotation = typeof Rotation.Type

const makeTokenRotationStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** A tunnel that the account owns, or any where none is named; every other command about its token waits until the transaction ends. */
    hold: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.NullOr(Schema.String) }),
      Result: Held,
      execute: ({ id, subject }) => sql`
        select t.id, t.routing_token, t.access_policy, t.options, t.rules, t.require_login, ${portOf(sql)} as public_port from tunnels t
        where t.id = ${id} and (${subject}::text is null or t.subject = ${subject}) for update`
    }),
    /** The old token is worthless from now on, at every edge. */
    replace: ({ fresh, id, now, old, recordsName }: Rotation) =>
      Effect.all([
        sql`update tunnels set routing_token = ${Redacted.value(fresh)},
          records_name = coalesce(records_name, ${recordsName}) where id = ${id}`,
        sql`insert into revoked_tokens (routing_token, revoked_at, tunnel_id, holder)
          select ${Redacted.value(old)}, ${now}, ${id}, revocation_holder(subject) from tunnels where id = ${id}
          on conflict do nothing`
      ]),
    /** The hostnames move with their certificate admission, as it stands. */
    moveHosts: SqlSchema.findAll({
      Request: Schema.Struct({ old: RoutingToken, fresh: RoutingToken }),
      Result: Moved,
      execute: ({ fresh, old }) => sql`
        update hosts set routing_token = ${fresh} where routing_token = ${old}
        returning hostname, case when status = 'gelb' then 'gelb' else 'passthrough' end as tier,
          case when claim = 'offered' then deadline end as admission_until`
    })
  }
})

type Account = Caller["Service"]

const tokenFrom = Schema.decodeSync(RoutingToken)

export class TokenRotations extends Context.Service<
  TokenRotations,
  {
    readonly rotate: (
      account: Account,
      id: string,
      key: string | undefined
    ) => Effect.Effect<RotatedToken, TunnelNotFound>
    /**
     * Ends grants, inside the transaction of the caller: those of a grantee for one tunnel, or all. A tunnel whose token the
     * grantee was shown gets a new one, unless its owner lets agents in without a proof, which could not ask for it.
     * Answers the tunnels whose grant ended.
     */
    readonly endGrants: (
      grantee: string,
      tunnel: string | null,
      actor: string
    ) => Effect.Effect<ReadonlyArray<string>, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/tunnels/TokenRotations") {
  static readonly make = Effect.gen(function* () {
    const store = yield* makeTokenRotationStore
    const grants = yield* AgentKeyStore
    const outbox = yield* Outbox
    const audits = yield* Audits
    const keys = yield* AgentKeys
    const { once } = yield* Idempotency
    const random = yield* SecureRandom.SecureRandom

    const replaced = Effect.fnUntraced(function* (held: Option.Option<Held>, actor: string) {
      if (Option.isNone(held)) return yield* new TunnelNotFound()
      const { accessPolicy: policy, id, options, publicPort: port, requireLogin, routingToken: old, rules } = held.value
      const fresh = tokenFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
      const hosts = yield* store.moveHosts({ old, fresh })
      yield* store.replace({ id, old, fresh, recordsName: hashToken(old), now: yield* unixSeconds })
      if (isAnyOn(options)) yield* outbox.append(fresh, { _tag: "SetOptions", options })
      if (port !== null) yield* outbox.append(fresh, { _tag: "SetPort", port })
      if (rules.length > 0) yield* outbox.append(fresh, { _tag: "SetRules", rules })
      for (const { admissionUntil, hostname, tier } of hosts) {
        const serve = { tier, ...(admissionUntil === null ? {} : { admissionUntil }) }
        const call = authorizeHost(hostname, serve)
        yield* outbox.append(fresh, requireLogin && call._tag === "AuthorizeHost" ? { ...call, requireLogin } : call)
      }
      if (policy !== null) yield* outbox.append(fresh, { _tag: "SetAccessPolicy", policy })
      yield* keys.announce([id])
      yield* outbox.append(old, { _tag: "Revoke", successor: fresh })
      yield* audits.append(audit("routing_token_rotated", actor, id))
      return new RotatedToken({ routing_token: fresh })
    })

    const rotated = ({ subject }: Account, id: string) =>
      Effect.flatMap(store.hold({ id, subject }), (held) => replaced(held, subject))

    return {
      endGrants: Effect.fnUntraced(function* (grantee: string, tunnel: string | null, actor: string) {
        yield* grants.holdGrants(grantee, tunnel)
        const ended = yield* grants.endGrants({ grantee, tunnel })
        const idsOf = (rows: typeof ended) => rows.map(({ tunnelId }) => tunnelId)
        // All of them before the first is changed, and in one order, so that ends of grants never wait for each other crosswise.
        yield* grants.holdTunnels(idsOf(ended))
        for (const id of idsOf(ended.filter(({ replaces }) => replaces)))
          yield* Effect.flatMap(store.hold({ id, subject: null }), (held) => replaced(held, actor)).pipe(Effect.orDie)
        yield* keys.announce(idsOf(ended.filter(({ enrolled, replaces }) => enrolled && !replaces)))
        return idsOf(ended)
      }),

      rotate: Effect.fn("TokenRotations.rotate")(
        (account: Account, id: string, key: string | undefined) =>
          once(
            { caller: account.subject, operation: `rotate-token ${id}`, key, request: null },
            RotatedToken,
            rotated(account, id)
          ).pipe(Effect.catchTag("IdempotencyKeyReused", Effect.die)),
        sqlOrDie
      )
    }
  })

  static readonly layer = Layer.effect(TokenRotations, TokenRotations.make).pipe(
    Layer.provide([AgentKeys.layer, AgentKeyStore.layer, Audits.layer, Idempotency.layer, Outbox.layer])
  )
}
