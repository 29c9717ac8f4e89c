/**
 * Ids that the platform issues: 16 random bytes as 32 hex, or 32 random bytes as 64 hex.
 *
 * A path may hold anything where an id belongs. For owner-scoped routes an id that does not exist, an id that another account
 * has and a text that is no id must look the same from outside, so the `*InPath` forms read every text: what is not an
 * id becomes the all-zero id, which is never issued.
 */
import { Schema, SchemaGetter } from "effect"
import { Hex32, Hex64 } from "./Hex.ts"
import { describedAs, portable } from "./Pattern.ts"
import { line } from "./Text.ts"

/** Who owns things: the verified subject of a token or session, as the identity provider names it. */
export const Subject = line(255).pipe(Schema.brand("Subject"))
export type Subject = typeof Subject.Type

const inPath = <S extends Schema.Codec<string, string>>(id: S, digits: number) => {
  const isId = Schema.is(id)
  const unknownId = id.make("0".repeat(digits))
  return Schema.String.check(describedAs({ ...portable(new RegExp(`^[0-9a-fA-F]{${digits}}$`, "u")) })).pipe(
    Schema.decodeTo(Schema.toType(id), {
      decode: SchemaGetter.transform((text: string) => {
        const lower = text.toLowerCase()
        return isId(lower) ? lower : unknownId
      }),
      encode: SchemaGetter.transform((own: S["Type"]) => own)
    })
  )
}

/** A tunnel. 32 hex. */
export const TunnelId = Hex32.pipe(Schema.brand("TunnelId"))
export type TunnelId = typeof TunnelId.Type
export const TunnelIdInPath = inPath(TunnelId, 32)

/** A topology, for its owner and those it is shared with. 32 hex. */
export const TopologyId = Hex32.pipe(Schema.brand("TopologyId"))
export type TopologyId = typeof TopologyId.Type
export const TopologyIdInPath = inPath(TopologyId, 32)

/** The unguessable name of a topology's public page. 32 hex. */
export const NetUuid = Hex32.pipe(Schema.brand("NetUuid"))
export type NetUuid = typeof NetUuid.Type
export const NetUuidInPath = inPath(NetUuid, 32)

/** A share link. 32 hex. */
export const ShareLinkId = Hex32.pipe(Schema.brand("ShareLinkId"))
export type ShareLinkId = typeof ShareLinkId.Type
export const ShareLinkIdInPath = inPath(ShareLinkId, 32)

/** A badge's public name, unrelated to the tunnel's id. 64 hex. */
export const BadgeId = Hex64.pipe(Schema.brand("BadgeId"))
export type BadgeId = typeof BadgeId.Type

/** A credit account. 64 hex. */
export const AccountId = Hex64.pipe(Schema.brand("AccountId"))
export type AccountId = typeof AccountId.Type

/** A payment intent. 64 hex. */
export const PaymentId = Hex64.pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type

/** Chosen by a caller so that a repeated request is answered, not repeated. 64 hex. */
export const IdempotencyKey = Hex64.pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type
