/**
 * Where a holder can be found on a channel (section 6.10), for a peer-to-peer lookup. The coordinates are the lookup's own
 * bytes. There is no expiry.
 */
import { Redacted, type Result } from "effect"
import * as ByteReader from "../ByteReader.ts"
import * as Bytes from "../Bytes.ts"
import * as Preimage from "../Preimage.ts"
import { holds, type Malformed } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"

/** A signed coordinate record. The channel is not part of its wire form: the reader knows where it looked. */
export interface Coordinate {
  readonly holder: Uint8Array
  readonly signature: Uint8Array
  readonly coordinates: Uint8Array
}

/**
 * The signed bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Coordinate from "@catenet/crypto/admission/Coordinate"
 *
 * const key = new Uint8Array(32)
 * strictEqual(Coordinate.preimage(key, { holder: key, coordinates: new Uint8Array(3) }).length, 24 + 64 + 3)
 * ```
 */
export const preimage = (
  channel: Uint8Array,
  { holder, coordinates }: Pick<Coordinate, "holder" | "coordinates">
): Uint8Array =>
  Preimage.raw("ct-a2a-dht-coordinate-v1", Preimage.fixed32(channel), Preimage.fixed32(holder), coordinates)

/**
 * Signs coordinates for a channel; the holder is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Coordinate from "@catenet/crypto/admission/Coordinate"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x41))
 * const [channel, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
 * const record = Coordinate.sign(portable, seed, channel, new Uint8Array(3))
 * ok(Coordinate.verify(portable, channel, record) && !Coordinate.verify(portable, other, record))
 * ```
 */
export const sign = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  channel: Uint8Array,
  coordinates: Uint8Array
): Coordinate => {
  const seed = Redacted.value(holderSeed)
  const holder = suite.ed25519.publicKey(seed)
  return { holder, coordinates, signature: suite.ed25519.sign(seed, preimage(channel, { holder, coordinates })) }
}

/**
 * The wire form: holder ‖ signature ‖ coordinates.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Coordinate from "@catenet/crypto/admission/Coordinate"
 *
 * const [holder, signature] = [new Uint8Array(32), new Uint8Array(64)]
 * strictEqual(Coordinate.encode({ holder, signature, coordinates: new Uint8Array(3) }).length, 99)
 * ```
 */
export const encode = (record: Coordinate): Uint8Array =>
  Bytes.concat(Preimage.fixed32(record.holder), Preimage.fixed64(record.signature), record.coordinates)

/**
 * Reads at least 96 bytes; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Coordinate from "@catenet/crypto/admission/Coordinate"
 *
 * ok(Result.isSuccess(Coordinate.decode(new Uint8Array(96))) && Result.isFailure(Coordinate.decode(new Uint8Array(95))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Coordinate, Malformed> =>
  ByteReader.decode("coordinate record", bytes, (reader) => ({
    holder: reader.take(32),
    signature: reader.take(64),
    coordinates: reader.rest()
  }))

/**
 * Whether the holder signed these coordinates for this channel.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Coordinate from "@catenet/crypto/admission/Coordinate"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const record = Result.getOrThrow(Coordinate.decode(new Uint8Array(96).fill(1)))
 * ok(!Coordinate.verify(portable, new Uint8Array(32), record))
 * ```
 */
export const verify = (suite: Suite, channel: Uint8Array, record: Coordinate): boolean =>
  holds(suite, record.holder, () => preimage(channel, record), record.signature)
