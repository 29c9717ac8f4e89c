/**
 * The park ping of the TLS-TCP carrier (data-plane 5.3): real payload on a waiting slot, since some middleboxes drop
 * silent flows and ignore bare TCP keepalive; and the STOP byte that ends the waiting.
 */
import { Buffer } from "node:buffer"
import { decoded, type Decoding, malformed, needMore, view } from "./Frame.ts"

export type ParkFrame =
  | { readonly _tag: "Ping"; readonly counter: bigint }
  | { readonly _tag: "Pong"; readonly counter: bigint }
  | { readonly _tag: "Stop" }

const pingByte = 0xf9
export const pongByte = 0xfa
const stopByte = 0xfb

const echoBytes = 9

const echo = (kind: number, counter: bigint): Buffer => {
  const frame = Buffer.alloc(echoBytes)
  frame[0] = kind
  frame.writeBigUInt64BE(BigInt.asUintN(64, counter), 1)
  return frame
}

/** Edge to agent: are you there? */
export const encodePing = (counter: bigint): Buffer => echo(pingByte, counter)
/** Agent to edge: the same counter back. */
export const encodePong = (counter: bigint): Buffer => echo(pongByte, counter)
/** Edge to agent, once: the byte after this one is the client's. */
export const stopFrame: Buffer = Buffer.from([stopByte])

export const decodePark = (bytes: Uint8Array): Decoding<ParkFrame> => {
  const [kind] = bytes
  if (kind === undefined) return needMore
  if (kind === stopByte) return decoded({ _tag: "Stop" }, 1)
  if (kind !== pingByte && kind !== pongByte) return malformed("not a park frame")
  if (bytes.length < echoBytes) return needMore
  const counter = view(bytes).readBigUInt64BE(1)
  return decoded({ _tag: kind === pingByte ? "Ping" : "Pong", counter }, echoBytes)
}
