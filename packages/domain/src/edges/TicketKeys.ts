/**
 * The keys with which edges seal the session tickets of visitors. All edges share them, so a returning visitor resumes
 * its TLS session at any edge. A key seals for twelve hours and opens for twelve more.
 */
import { Schema } from "effect"
import { EphemeralKey, Signature } from "../values/Keys.ts"
import { UnixSeconds } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { EdgeId } from "./EdgeNode.ts"

/** Seconds for which a key seals. */
export const ticketKeySeconds = 12 * 60 * 60

const hex96 = Schema.String.check(pattern(/^[0-9a-f]{96}$/u, "96 lower-case hex digits"))

/** As TLS servers take it: 16 bytes of a name, 16 that authenticate, 16 that encrypt. */
export const TicketKeyBytes = Schema.RedactedFromValue(hex96, { label: "ticket key" })

/** What the answer to an edge holds when it is opened. */
export const TicketKeys = Schema.Array(Schema.Struct({ key: TicketKeyBytes, from: UnixSeconds }))
export type TicketKeys = typeof TicketKeys.Type

/** An edge asks by the key that it is pinned to. `key` is fresh: the answer is sealed for it. */
export class TicketKeyRequest extends Schema.Class<TicketKeyRequest>("TicketKeyRequest")({
  id: EdgeId,
  key: EphemeralKey,
  signature: Signature
}) {}

/** The second message of a Noise handshake of the pattern NN, whose payload is the keys. */
export class SealedTicketKeys extends Schema.Class<SealedTicketKeys>("SealedTicketKeys")({
  sealed: Schema.String.check(
    pattern(/^[0-9a-f]{96,8192}$/u, "96 to 8192 lower-case hex digits", /^(?:[0-9a-f]{8}){12}$/u)
  )
}) {}
