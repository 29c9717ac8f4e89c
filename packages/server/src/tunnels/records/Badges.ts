/**
 * Public uptime badges. The address of one is all that a viewer learns besides the figure; switched off, it never comes
 * back.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { Badge, disable, enable, face } from "@catenet/domain/tunnels/Badge"
import { BadgeNotFound, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import type { Audit } from "@catenet/domain/values/AuditEffect"
import { BadgeId, type TunnelId } from "@catenet/domain/values/Ids"
import type { Step } from "@catenet/domain/values/Step"
import type { Subject } from "@catenet/domain/values/Subject"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { EdgeFacts } from "../../edges/EdgeFacts.ts"
import { Audits } from "../../identity/Audits.ts"
import { freshHex64 } from "../../runtime/TokenSecrets.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import * as Store from "./BadgeStore.ts"
import * as Svg from "./BadgeSvg.ts"
import { shares } from "./FactFormat.ts"

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(BadgeId)
const fileName = /^([0-9a-f]{64})\.svg$/u

export class Badges extends Context.Service<
  Badges,
  {
    readonly get: (account: Account, id: TunnelId) => Effect.Effect<Badge, TunnelNotFound>
    /** Switches the badge on; one that is on keeps its address. */
    readonly enable: (account: Account, id: TunnelId) => Effect.Effect<Badge, TunnelNotFound>
    readonly disable: (account: Account, id: TunnelId) => Effect.Effect<void, TunnelNotFound>
    /** The picture behind a file name; an edge that says nothing is a badge without a figure. */
    readonly picture: (file: string) => Effect.Effect<string, BadgeNotFound>
  }
>()("server/tunnels/records/Badges") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const audits = yield* Audits
    const edge = yield* EdgeFacts
    const random = yield* SecureRandom.SecureRandom

    const find = Effect.fnUntraced(function* ({ subject }: Account, id: TunnelId) {
      const found = yield* store.find({ id, subject })
      return Option.isSome(found) ? new Badge({ public_id: found.value.publicId }) : yield* new TunnelNotFound()
    })

    const step = Effect.fnUntraced(function* (
      account: Account,
      id: TunnelId,
      decide: (tunnel: { readonly id: TunnelId; readonly subject: Subject }, badge: Badge) => Step<Badge, Audit>
    ) {
      yield* store.lock(id)
      const before = yield* find(account, id)
      const { effects, next } = decide({ id, subject: account.subject }, before)
      if (next !== before) {
        yield* next.public_id === null ? store.remove(id) : store.insert(id, next.public_id)
      }
      yield* Effect.forEach(effects, audits.append, { discard: true })
      return next
    }, store.transaction)

    return {
      get: Effect.fn("Badges.get")((account: Account, id: TunnelId) => find(account, id), sqlOrDie),

      enable: Effect.fn("Badges.enable")(function* (account: Account, id: TunnelId) {
        const fresh = idFrom(yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random))
        return yield* step(account, id, (tunnel, badge) => enable(tunnel, badge, fresh))
      }, sqlOrDie),

      disable: Effect.fn("Badges.disable")(
        (account: Account, id: TunnelId) => Effect.asVoid(step(account, id, disable)),
        sqlOrDie
      ),

      picture: Effect.fn("Badges.picture")(function* (file: string) {
        const publicId = fileName.exec(file)?.[1]
        const tunnel = publicId === undefined ? Option.none() : yield* store.tunnelOf(publicId)
        if (Option.isNone(tunnel)) return yield* new BadgeNotFound()
        const history = yield* edge.history(tunnel.value.routingToken, 1)
        return Svg.render(face(shares(history)?.d7 ?? null))
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Badges, Badges.make)
  static readonly layer = Badges.layerNoDeps.pipe(Layer.provide([Audits.layer, EdgeFacts.layer]))
}
