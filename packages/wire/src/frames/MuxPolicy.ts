/**
 * The policy of a tunnel between edge and agent: what an agent enforces where it ends the visitors' TLS, said in its registration,
 * and the frame by which an edge tells such an agent that the policy has changed. Peers of before skip both.
 * On the wire: of what is enforced version u8 and name; of the frame revision u64.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"
import { text } from "./MuxFields.ts"

/** One thing that an agent enforces, and in which version; names of later versions are kept as they are. */
export interface Enforcement {
  readonly name: string
  readonly version: number
}

/** What an edge relies on: that the agent asks visitors to log in, closes outside access windows, lets only HTTP through, and applies rules. */
export type Enforced = "gate" | "windows" | "http_only" | "rules"

const nameForm = /^[a-z0-9_]{1,32}$/u
const maxBytes = 33

export const encodeEnforcement = ({ name, version }: Enforcement): Buffer =>
  Buffer.concat([Uint8Array.of(version), text(name)])

export const decodeEnforcement = (bytes: Uint8Array): Result.Result<Enforcement, Malformed> => {
  const buffer = view(bytes)
  const version = buffer[0]
  const name = buffer.toString("latin1", 1)
  return version === undefined || buffer.length > maxBytes || !nameForm.test(name)
    ? malformed("enforcement")
    : Result.succeed({ name, version })
}

export const revisionBytes = 8

/** The revision of the policy as the control plane counts it; 0 where the edge does not know it. */
export const encodeRevision = (revision: bigint): Buffer => {
  const bytes = Buffer.allocUnsafe(revisionBytes)
  bytes.writeBigUInt64BE(BigInt.asUintN(64, revision))
  return bytes
}

export const decodeRevision = (bytes: Uint8Array): bigint => view(bytes).readBigUInt64BE(0)
