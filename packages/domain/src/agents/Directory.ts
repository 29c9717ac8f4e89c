/** The public directory of agents, as an operator registered them. A listed agent may have stopped answering. */
import { Effect, Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { HolderKey, NewHolderKey, Signature } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { patternBy } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"

const maxCardUrl = 2048

/** Where an agent serves its card; https only. */
export const CardUrl = Schema.String.check(
  patternBy(
    (text) => text.length <= maxCardUrl && text.startsWith("https://") && URL.canParse(text),
    `an https:// URL of at most ${maxCardUrl} characters`,
    /^https:\/\/[a-z0-9]{1,12}\.example\/[a-z0-9/._-]{0,24}$/u,
    { format: "uri", pattern: "^https://", maxLength: maxCardUrl }
  )
).pipe(Schema.brand("CardUrl"))
export type CardUrl = typeof CardUrl.Type

/** A role tag or skill id, matched as a whole. */
export const DirectoryToken = line(128)

const tokens = boundedArray(64, DirectoryToken)

/** What an operator registers for an agent. */
export class DirectoryRegistration extends Schema.Class<DirectoryRegistration>("DirectoryRegistration")({
  holder_pubkey: NewHolderKey,
  card_url: CardUrl,
  role_tags: tokens.pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
  skill_ids: tokens.pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
}) {}

/** What an account registers for an agent whose holder key it can sign with; `proof` is over all of it and the account. */
export class ProvedRegistration extends Schema.Class<ProvedRegistration>("ProvedRegistration")({
  ...DirectoryRegistration.fields,
  issued_at: UnixSeconds,
  /** When the card expires; from then on the entry is not listed. */
  expires_at: UnixSeconds,
  proof: Signature
}) {}

/** `registered_at`: the time of the last registration. */
export class DirectoryEntry extends Schema.Class<DirectoryEntry>("DirectoryEntry")({
  holder_pubkey: HolderKey,
  card_url: CardUrl,
  role_tags: tokens,
  skill_ids: tokens,
  registered_at: UnixSeconds
}) {}

/** An entry of one's own. */
export class OwnDirectoryEntry extends DirectoryEntry.extend<OwnDirectoryEntry>("OwnDirectoryEntry")({
  expires_at: UnixSeconds
}) {}
