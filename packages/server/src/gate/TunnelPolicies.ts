/**
 * What agents that end their visitors' TLS learn of the policy of their tunnel, and whether one of them enforces it. The
 * revision is counted where orders to edges are written (`Outbox`).
 */
import { NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { TunnelOptions } from "@catenet/domain/edges/TunnelOptions"
import { StoredRules } from "@catenet/domain/rules/Rules"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import type { Hostname } from "@catenet/domain/values/Hostname"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { AssertionKeys } from "../tunnels/AssertionKeys.ts"
import { GateStore } from "../tunnels/GateStore.ts"
import { Gate } from "./Gate.ts"

const Row = Schema.Struct({
  revision: Schema.Int,
  shareEpoch: Schema.Int,
  requireLogin: Schema.Boolean,
  accessPolicy: Schema.NullOr(AccessPolicy),
  options: TunnelOptions,
  rules: StoredRules
})

/** What an agent has to enforce for a name whose visitors are restricted to be passed through to it. */
const needed = ["gate", "windows", "http_only"]

export class TunnelPolicies extends Context.Service<
  TunnelPolicies,
  {
    /** The policy of a tunnel, for an agent that enforces this of it. */
    readonly of: (tunnelId: string, enforces: ReadonlyArray<string>) => Effect.Effect<TunnelPolicy>
    /** Fails unless the host leads to the tunnel. */
    readonly owns: (tunnelId: string, host: Hostname) => Effect.Effect<void, NotHostnameOwner>
  }
>()("server/gate/TunnelPolicies") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { leadsTo } = yield* GateStore
    const { signIn } = yield* Gate
    const keys = yield* AssertionKeys
    const find = SqlSchema.findOne({
      Request: Schema.String,
      Result: Row,
      execute: (id) => sql`
        select coalesce(p.revision, 0)::int as revision, coalesce(p.share_epoch, 0)::int as share_epoch, t.require_login,
          t.access_policy, t.options, t.rules from tunnels t left join tunnel_policies p on p.tunnel_id = t.id where t.id = ${id}`
    })
    const enforced = (id: string) => sql`
      insert into tunnel_policies (tunnel_id, enforced) values (${id}, true)
      on conflict (tunnel_id) do update set enforced = true where not tunnel_policies.enforced`
    const rulesEnforced = (id: string) => sql`
      insert into tunnel_policies (tunnel_id, rules_enforced) values (${id}, true)
      on conflict (tunnel_id) do update set rules_enforced = true where not tunnel_policies.rules_enforced`

    return {
      of: Effect.fn("TunnelPolicies.of")(function* (id: string, enforces: ReadonlyArray<string>) {
        if (needed.every((name) => enforces.includes(name))) yield* enforced(id)
        if (enforces.includes("rules")) yield* rulesEnforced(id)
        const { accessPolicy, options, requireLogin, revision, rules, shareEpoch } = yield* find(id)
        return new TunnelPolicy({
          revision,
          require_login: requireLogin,
          sign_in: signIn,
          share_epoch: shareEpoch,
          access: accessPolicy,
          options,
          ...(rules.length > 0 ? { rules } : {}),
          assertion_keys: yield* keys.ofTunnel(id)
        })
      }, sqlOrDie),

      owns: Effect.fn("TunnelPolicies.owns")(function* (id: string, host: Hostname) {
        if ((yield* leadsTo(host, id)).length === 0) return yield* new NotHostnameOwner()
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(TunnelPolicies, TunnelPolicies.make)
  static readonly layer = TunnelPolicies.layerNoDeps.pipe(
    Layer.provide([AssertionKeys.layer, Gate.layer, GateStore.layer])
  )
}
