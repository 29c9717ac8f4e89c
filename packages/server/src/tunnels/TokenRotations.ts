/**
 * A new routing token for a tunnel. The tunnel keeps its hostnames with their certificate admission, its access window,
 * links, keys and records; the old token is revoked. All of it is one transaction, and edges get it through the outbox:
 * a crash leaves the old token in force everywhere, or the new one as soon as each edge answers.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { RotatedToken } from "@catenet/domain/tunnels/Tunnel"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { authorizeHost } from "../edges/EdgeOrders.ts"
import { Outbox } from "../edges/Outbox.ts"
import { AgentKeys } from "../enrollment/AgentKeys.ts"
import { Idempotency } from "../http/Idempotency.ts"
import { Audits } from "../identity/Audits.ts"
import { freshHex64, hashToken } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./TokenRotationStore.ts"

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
  }
>()("server/tunnels/TokenRotations") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const outbox = yield* Outbox
    const audits = yield* Audits
    const keys = yield* AgentKeys
    const { once } = yield* Idempotency
    const random = yield* SecureRandom.SecureRandom

    const rotated = Effect.fnUntraced(function* ({ subject }: Account, id: string) {
      const held = yield* store.hold({ id, subject })
      if (Option.isNone(held)) return yield* new TunnelNotFound()
      const { accessPolicy: policy, httpOnly: required, requireLogin, routingToken: old } = held.value
      const fresh = tokenFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
      const hosts = yield* store.moveHosts({ old, fresh })
      yield* store.replace({ id: held.value.id, old, fresh, recordsName: hashToken(old), now: yield* unixSeconds })
      if (required) yield* outbox.append(fresh, { _tag: "SetHttpOnly", required })
      for (const { admissionUntil, hostname, tier } of hosts) {
        const serve = { tier, ...(admissionUntil === null ? {} : { admissionUntil }) }
        const call = authorizeHost(hostname, serve)
        yield* outbox.append(fresh, requireLogin && call._tag === "AuthorizeHost" ? { ...call, requireLogin } : call)
      }
      if (policy !== null) yield* outbox.append(fresh, { _tag: "SetAccessPolicy", policy })
      yield* keys.announce([id])
      yield* outbox.append(old, { _tag: "Revoke", successor: fresh })
      yield* audits.append(audit("routing_token_rotated", subject, id))
      return new RotatedToken({ routing_token: fresh })
    })

    return {
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

  static readonly layerNoDeps = Layer.effect(TokenRotations, TokenRotations.make)
  static readonly layer = TokenRotations.layerNoDeps.pipe(
    Layer.provide([AgentKeys.layer, Audits.layer, Idempotency.layer, Outbox.layer])
  )
}
