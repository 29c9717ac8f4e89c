/**
 * Public uptime badges. A viewer learns the figure and nothing else; the address of a disabled badge never comes back.
 */
import type { Caller } from "@catenet/domain/api/Access"
import { BadgeNotFound, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { Badge, type BadgeFace, disable, enable, face } from "@catenet/domain/tunnels/Uptime"
import type { Audit } from "@catenet/domain/values/AuditEffect"
import { BadgeId, type Subject, type TunnelId } from "@catenet/domain/values/Ids"
import type { Step } from "@catenet/domain/values/Step"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { EdgeFacts } from "../../edges/EdgeFacts.ts"
import { Audits } from "../../identity/Audits.ts"
import { freshHex64 } from "../../runtime/TokenSecrets.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { shares } from "./RecordStore.ts"

// The picture of a badge: flat, 20 pixels high, readable by screen readers. A function from what it says to SVG.

/** Pixels of a character of 11 pixel Verdana, on average; the picture states the width that it was laid out for. */
const characterWidth = 6.5
const padding = 10

const widthOf = (text: string) => Math.round(text.length * characterWidth) + padding

/** `face` holds texts of this program only: a fixed label, figures, and a fixed colour. */
const badgeSvg = ({ colour, label, text }: BadgeFace): string => {
  const left = widthOf(label)
  const right = widthOf(text)
  const whole = left + right
  const caption = `${label}: ${text}`
  const word = (content: string, middle: number) =>
    `<text x="${middle}" y="14" textLength="${widthOf(content) - padding}">${content}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="20" role="img" aria-label="${caption}"><title>${caption}</title>\
<rect width="${left}" height="20" fill="#555"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>\
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">\
${word(label, left / 2)}${word(text, left + right / 2)}</g></svg>
`
}

/** The table of badges: a tunnel has a row while its badge is on. */
const makeBadgeStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /**
     * Badges of a tunnel are switched one after the other. A statement of its own, so that what is read next is what
     * the one before has left.
     */
    lock: (id: string) => sql`select 1 from tunnels where id = ${id} for update`,
    /** Null for a tunnel of the account whose badge is off; nothing when it is not the account's. */
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ id: Schema.String, subject: Schema.String }),
      Result: Schema.Struct({ publicId: Schema.NullOr(BadgeId) }),
      execute: ({ id, subject }) => sql`
        select b.public_id from tunnels t left join badges b on b.tunnel_id = t.id
        where t.id = ${id} and t.subject = ${subject}`
    }),
    insert: (tunnelId: string, publicId: string) => sql`insert into badges ${sql.insert({ tunnelId, publicId })}`,
    remove: (tunnelId: string) => sql`delete from badges where tunnel_id = ${tunnelId}`,
    tunnelOf: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ routingToken: RoutingToken }),
      execute: (publicId) => sql`
        select t.routing_token from badges b join tunnels t on t.id = b.tunnel_id where b.public_id = ${publicId}`
    }),
    transaction: sql.withTransaction
  }
})

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
    const store = yield* makeBadgeStore
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
        return badgeSvg(face(shares(history)?.d7 ?? null))
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Badges, Badges.make).pipe(Layer.provide([Audits.layer, EdgeFacts.layer]))
}
