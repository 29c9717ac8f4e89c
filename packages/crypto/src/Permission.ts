/**
 * What a grant and an invitation have in common (sections 4.1 and 4.2): the permission they carry, the 139-byte layout
 * and the signed text. The wire carries binary, the signature covers the text; only the text's first word distinguishes a grant
 * from an invitation, so a verifier must not try both.
 */
import { Result } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import * as Integer from "./Integer.ts"
import { Malformed } from "./SignedRecord.ts"

const directions = ["initiate", "accept", "both"] as const

/** The rights as a grant's text says them, in the order of their wire numbers. */
export const rightsTexts = ["r", "w", "rw"] as const

/** Which end of a session its holder may be. */
export type Direction = (typeof directions)[number]

/** What its holder may do with the stream. Carried and signed; enforcing it is up to the session. */
export type Rights = (typeof rightsTexts)[number]

/** What is permitted, and until when (Unix seconds, dead at equality). */
export interface Permission {
  readonly direction: Direction
  readonly rights: Rights
  readonly delegable: boolean
  readonly expiresAt: bigint
}

/** The layout's parts: a permission for one key on one channel, and the operator's signature over its text. */
export interface Signed extends Permission {
  /** 64 bytes. */
  readonly signature: Uint8Array
  /** 32 bytes. */
  readonly channel: Uint8Array
  /** 32 bytes: the holder of a grant, the invitee of an invitation. */
  readonly subject: Uint8Array
}

/** Bytes of the wire form. */
export const wireLength = 139

/**
 * Whether a permission for `granted` covers `wanted`: `both` covers all, the others only themselves.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Permission from "@catenet/crypto/Permission"
 *
 * ok(Permission.permits("both", "accept") && !Permission.permits("initiate", "both"))
 * ```
 */
export const permits = (granted: Direction, wanted: Direction): boolean => granted === "both" || granted === wanted

/**
 * Whether the rights include reading.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Permission from "@catenet/crypto/Permission"
 *
 * ok(Permission.mayRead("rw") && !Permission.mayRead("w"))
 * ```
 */
export const mayRead = (rights: Rights): boolean => rights !== "w"

/**
 * Whether the rights include writing.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Permission from "@catenet/crypto/Permission"
 *
 * ok(Permission.mayWrite("rw") && !Permission.mayWrite("r"))
 * ```
 */
export const mayWrite = (rights: Rights): boolean => rights !== "r"

/**
 * The signed bytes: `<word>|<channel hex>|<subject hex>|<direction>|<rights>|<0 or 1>|<expiry>` in ASCII.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bytes from "@catenet/crypto/Bytes"
 * import * as Permission from "@catenet/crypto/Permission"
 * import { Result } from "effect"
 *
 * const key = new Uint8Array(32)
 * const permission = { direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * const bytes = Permission.preimage("ct-grant:v1", { channel: key, subject: key, ...permission })
 * ok(Result.getOrThrow(Bytes.toText(bytes)).endsWith("|both|rw|0|1000"))
 * ```
 */
export const preimage = (word: string, permission: Omit<Signed, "signature">): Uint8Array => {
  const { channel, subject, direction, rights, delegable, expiresAt } = permission
  if (!Bytes.allOf(32, channel, subject)) throw new RangeError("channel and subject have 32 bytes each")
  const fields = [word, Hex.encode(channel), Hex.encode(subject), direction, rights, delegable ? "1" : "0", expiresAt]
  return Bytes.fromText(fields.join("|"))
}

/**
 * The 139 wire bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Permission from "@catenet/crypto/Permission"
 *
 * const [key, signature] = [new Uint8Array(32), new Uint8Array(64)]
 * const permission = { direction: "both", rights: "rw", delegable: false, expiresAt: 1000n }
 * strictEqual(Permission.encode({ signature, channel: key, subject: key, ...permission }).length, Permission.wireLength)
 * ```
 */
export const encode = (signed: Signed): Uint8Array =>
  Bytes.concat(
    signed.signature,
    signed.channel,
    signed.subject,
    Uint8Array.of(
      directions.indexOf(signed.direction) + 1,
      rightsTexts.indexOf(signed.rights) + 1,
      signed.delegable ? 1 : 0
    ),
    Integer.u64le(signed.expiresAt)
  )

/**
 * Reads exactly 139 bytes. `record` names the kind in the error.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Permission from "@catenet/crypto/Permission"
 *
 * ok(Result.isFailure(Permission.decode("grant", new Uint8Array(139))))
 * ```
 */
export const decode = (record: string, bytes: Uint8Array): Result.Result<Signed, Malformed> => {
  const malformed = (why: string) => Result.fail(new Malformed({ record, why }))
  if (bytes.length !== wireLength) return malformed(`${bytes.length} bytes where ${wireLength} are wanted`)
  const direction = directions[(bytes[128] ?? 0) - 1]
  const rights = rightsTexts[(bytes[129] ?? 0) - 1]
  const delegable = bytes[130] ?? 2
  if (direction === undefined) return malformed("direction is not 1, 2 or 3")
  if (rights === undefined) return malformed("rights are not 1, 2 or 3")
  if (delegable > 1) return malformed("delegable is not 0 or 1")
  return Result.succeed({
    signature: Bytes.copy(bytes, 0, 64),
    channel: Bytes.copy(bytes, 64, 96),
    subject: Bytes.copy(bytes, 96, 128),
    direction,
    rights,
    delegable: delegable === 1,
    expiresAt: Integer.readU64le(bytes, 131)
  })
}
