/**
 * Public uptime badges. The address of one is all that a viewer learns besides the figure; switched off, it never comes
 * back.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { BadgeNotFound, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { BadgeId } from "@catenet/domain/values/Ids"
import { type BadgeEvent, face, transition } from "@catenet/domain/tunnels/Badge"
import { Badge } from "@catenet/domain/tunnels/Usage"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Audits } from "../../identity/Audits.ts"
import { EdgeFacts } from "../../edges/EdgeFacts.ts"
import { shares } from "./FactFormat.ts"
import { freshHex64 } from "../../runtime/Secrets.ts"
import { asDefects } from "../../store/Defects.ts"
import * as Store from "./BadgeStore.ts"
import * as Svg from "./BadgeSvg.ts"

type Account = Caller["Service"]

const idFrom = Schema.decodeSync(BadgeId)
const fileName = /^([0-9a-f]{64})\.svg$/u

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const audits = yield* Audits
  const edge = yield* EdgeFacts
  const random = yield* SecureRandom.SecureRandom

  const find = Effect.fnUntraced(function* ({ subject }: Account, id: string) {
    const found = yield* store.find({ id, subject })
    return yield* Option.isSome(found) ? Effect.succeed(found.value.publicId) : new TunnelNotFound()
  })

  const step = Effect.fnUntraced(function* (account: Account, id: string, event: BadgeEvent) {
    yield* store.lock(id)
    const publicId = yield* find(account, id)
    const before = publicId === null ? ({ _tag: "Disabled" } as const) : ({ _tag: "Enabled", publicId } as const)
    const { effects, next } = transition({ id, subject: account.subject }, before, event)
    if (next !== before) {
      yield* next._tag === "Enabled" ? store.insert(id, next.publicId) : store.remove(id)
    }
    yield* Effect.forEach(effects, audits.append, { discard: true })
    return new Badge({ public_id: next._tag === "Enabled" ? idFrom(next.publicId) : null })
  }, store.transaction)

  return {
    get: Effect.fn("Badges.get")(function* (account: Account, id: string) {
      return new Badge({ public_id: yield* find(account, id) })
    }, asDefects),

    /** Switches the badge on; one that is on keeps its address. */
    enable: Effect.fn("Badges.enable")(function* (account: Account, id: string) {
      const freshId = yield* Effect.provideService(freshHex64, SecureRandom.SecureRandom, random)
      return yield* step(account, id, { _tag: "Enable", freshId })
    }, asDefects),

    disable: Effect.fn("Badges.disable")(
      (account: Account, id: string) => Effect.asVoid(step(account, id, { _tag: "Disable" })),
      asDefects
    ),

    /** The picture behind a file name; an edge that says nothing is a badge without a figure. */
    picture: Effect.fn("Badges.picture")(function* (file: string) {
      const publicId = fileName.exec(file)?.[1]
      const tunnel = publicId === undefined ? Option.none() : yield* store.tunnelOf(publicId)
      if (Option.isNone(tunnel)) return yield* new BadgeNotFound()
      const history = yield* edge.history(tunnel.value.routingToken, 1)
      return Svg.render(face(shares(history)?.d7 ?? null))
    }, asDefects)
  }
})

export class Badges extends Context.Service<Badges, Effect.Success<typeof make>>()("server/Badges") {
  static readonly layer = Layer.effect(Badges, make)
}
