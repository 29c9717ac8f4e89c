/**
 * The rules of a tunnel: what edges and agents do with each request of a visitor. Changes reach both by the tunnel's policy, in
 * order; `Hosts` sends them again when a hostname is authorized.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { TunnelRules as Shown } from "@catenet/domain/api/TunnelControlsApi"
import { StoredRules } from "@catenet/domain/rules/Rules"
import { RuleLimitReached, RulesRefused, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { TunnelId } from "@catenet/domain/values/Ids"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { Audits } from "../identity/Audits.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"

const Ruled = Schema.Struct({
  routingToken: RoutingToken,
  rules: StoredRules,
  requireLogin: Schema.Boolean,
  hasPort: Schema.Boolean
})

const encode = Schema.encodeSync(StoredRules)

const makeTunnelRuleStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Of a tunnel that the account owns; with `lock`, no other transaction changes them before this one ends. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, lock: Schema.Boolean }),
      Result: Ruled,
      execute: ({ id, lock, subject }) => sql`
        select routing_token, rules, require_login,
          (select 1 from public_ports where tunnel_id = tunnels.id) is not null or coalesce((options ->> 'tls')::boolean, false)
            as has_port
        from tunnels where id = ${id} and subject = ${subject}
        ${lock ? sql`for update` : sql``}`
    }),
    /** The account and whoever shares its limits change their rules one after the other. */
    lock: (subject: string) => sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${subject}), 139))`,
    /** What the account may have, and the rules of all other tunnels that share the limit. */
    others: SqlSchema.findOne({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String, usualMost: Schema.Int }),
      Result: Schema.Struct({ held: Schema.Int, most: Schema.Int }),
      execute: ({ id, subject, usualMost }) => sql`
        select a.most, (select coalesce(sum(jsonb_array_length(t.rules)), 0)::int from tunnels t
          where t.subject = any(a.sharing) and t.id <> ${id}) as held
        from account_limit(${subject}, 'max_rules', ${usualMost}) a`
    }),
    save: (id: string, rules: StoredRules) =>
      sql`update tunnels set rules = ${PgTypes.jsonb(encode(rules))} where id = ${id}`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

export class TunnelRules extends Context.Service<
  TunnelRules,
  {
    readonly get: (account: Account, id: TunnelId) => Effect.Effect<Shown, TunnelNotFound>
    /** Puts a whole list in place of the one in force. */
    readonly set: (
      account: Account,
      id: TunnelId,
      rules: StoredRules
    ) => Effect.Effect<Shown, RuleLimitReached | RulesRefused | TunnelNotFound>
  }
>()("server/tunnels/TunnelRules") {
  static readonly make = Effect.gen(function* () {
    const { rulesPerAccount } = yield* Settings
    const store = yield* makeTunnelRuleStore
    const outbox = yield* Outbox
    const audits = yield* Audits

    const find = Effect.fnUntraced(function* ({ subject }: Account, id: TunnelId, lock: boolean) {
      const found = yield* store.find({ id, subject, lock })
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new TunnelNotFound()
    })

    const replaced = Effect.fnUntraced(function* (account: Account, id: TunnelId, rules: StoredRules) {
      const { subject } = account
      yield* store.lock(subject)
      const tunnel = yield* find(account, id, true)
      const unfit = rules.findIndex(({ allow }) => allow === undefined)
      if (tunnel.hasPort && unfit >= 0)
        return yield* new RulesRefused({
          field: `rules[${unfit}].${Object.keys(rules[unfit] ?? {}).join()}`,
          reason: "needs HTTP; at a tunnel of kind tcp or udp there can only be allow"
        })
      const at = rules.findIndex(({ require_login }) => require_login !== undefined)
      if (at >= 0 && !tunnel.requireLogin)
        return yield* new RulesRefused({
          field: `rules[${at}].require_login`,
          reason: "needs the login of the tunnel; switch it on first, by require_login at PATCH /me/tunnels/{id}"
        })
      const { held, most } = yield* store.others({ id, subject, usualMost: rulesPerAccount })
      // Who is above a lowered limit can still take rules away.
      const isMore = rules.length > tunnel.rules.length
      if (isMore && held + rules.length > most) return yield* new RuleLimitReached({ limit: most })
      yield* store.save(id, rules)
      yield* audits.append(audit("tunnel_rules_set", subject, id, `${rules.length}`))
      yield* outbox.append(tunnel.routingToken, { _tag: "SetRules", rules })
      return new Shown({ rules })
    }, store.transaction)

    return {
      get: Effect.fn("TunnelRules.get")(function* (account: Account, id: TunnelId) {
        const { rules } = yield* find(account, id, false)
        return new Shown({ rules })
      }, sqlOrDie),
      set: Effect.fn("TunnelRules.set")(replaced, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(TunnelRules, TunnelRules.make).pipe(Layer.provide([Audits.layer, Outbox.layer]))
}
