/**
 * Where a holder can be found on a channel (section 6.10), for a peer-to-peer lookup. The coordinates are the lookup's own
 * bytes. There is no expiry.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Preimage from "@catenet/crypto/Preimage"
import { holds, type Malformed } from "@catenet/crypto/SignedRecord"
import type { Suite } from "@catenet/crypto/Suite"
import { Redacted, type Result } from "effect"
import * as ByteReader from "./ByteReader.ts"

/** A signed coordinate record. The channel is not part of its wire form: the reader knows where it looked. */
export interface Coordinate {
  readonly holder: Uint8Array
  readonly signature: Uint8Array
  readonly coordinates: Uint8Array
}

/**
 * The signed bytes.
 */
export const preimage = (
  channel: Uint8Array,
  { holder, coordinates }: Pick<Coordinate, "holder" | "coordinates">
): Uint8Array =>
  Preimage.raw("ct-a2a-dht-coordinate-v1", Preimage.fixed32(channel), Preimage.fixed32(holder), coordinates)

/**
 * Signs coordinates for a channel; the holder is the seed's own key.
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
 */
export const encode = (record: Coordinate): Uint8Array =>
  Bytes.concat(Preimage.fixed32(record.holder), Preimage.fixed64(record.signature), record.coordinates)

/**
 * Reads at least 96 bytes; nothing is verified.
 */
export const decode = (bytes: Uint8Array): Result.Result<Coordinate, Malformed> =>
  ByteReader.decode("coordinate record", bytes, (reader) => ({
    holder: reader.take(32),
    signature: reader.take(64),
    coordinates: reader.rest()
  }))

/**
 * Whether the holder signed these coordinates for this channel.
 */
export const verify = (suite: Suite, channel: Uint8Array, record: Coordinate): boolean =>
  holds(suite, record.holder, () => preimage(channel, record), record.signature)
