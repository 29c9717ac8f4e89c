/**
 * The echo through edge, agent and origin: the edge asks the agent of a registration, the agent tries its origin and says
 * what came of it. Its frames are extensions, which peers of before skip; an agent that answers says so when it registers.
 * On the wire: serial u32, then fields; of a question only the serial is known.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"
import { decodeFields, encodeFields, type Field, readText, readU32, text, u32 } from "./MuxFields.ts"

const verdicts = {
  /** Of a later version, and known to be no more than an answer. */
  unknown: 0,
  /** The agent did not ask: nothing can be learned from an origin that speaks UDP. */
  unasked: 1,
  up: 2,
  refused: 3,
  timeout: 4,
  unresolved: 5,
  unreachable: 6,
  /** It took the connection and gave no answer to the request. */
  closed: 7,
  /** It answered the request with a status that means that it is not well. */
  status: 8
} as const

/** What an agent has learned from its origin. */
export type OriginVerdict = keyof typeof verdicts

export interface OriginEcho {
  readonly verdict: OriginVerdict
  /** How long the origin took, in milliseconds. */
  readonly millis: number
  /** Of the origin's answer, where the verdict is `status`. */
  readonly status?: number
  /** `host:port` of the origin, for people. */
  readonly origin?: string
  /** How the keys of the connection that this came by were agreed: a TLS group in small letters. */
  readonly keyExchange?: string
}

const isVerdict = (name: string): name is OriginVerdict => Object.hasOwn(verdicts, name)

export const originVerdicts: ReadonlyArray<OriginVerdict> = Object.keys(verdicts).filter(isVerdict)
const names = new Map<number, OriginVerdict>(originVerdicts.map((name) => [verdicts[name], name]))

export const serialBytes = 4
/** `host:port` or the path of a socket, in one line. */
const address = /^[\x21-\x7e]{1,300}$/
export const maxEchoBytes = 1024
const group = /^[a-z0-9]{1,32}$/

const tags = { verdict: 1, millis: 2, status: 3, origin: 4, keyExchange: 5 } as const

export const encodeEcho = (serial: number): Buffer => u32(serial)

export const decodeSerial = (bytes: Uint8Array): number => view(bytes).readUInt32BE(0)

export const encodeEchoed = (serial: number, { keyExchange, millis, origin, status, verdict }: OriginEcho): Buffer => {
  const fields: Array<Field> = [
    [tags.verdict, Uint8Array.of(verdicts[verdict])],
    [tags.millis, u32(Math.min(0xffff_ffff, Math.max(0, Math.round(millis))))]
  ]
  if (status !== undefined) fields.push([tags.status, u32(status)])
  if (origin !== undefined && address.test(origin)) fields.push([tags.origin, text(origin)])
  if (keyExchange !== undefined && group.test(keyExchange)) fields.push([tags.keyExchange, text(keyExchange)])
  return Buffer.concat([u32(serial), encodeFields(fields)])
}

/** A verdict of a later version reads as `unknown`. */
export const decodeEchoed = (
  bytes: Uint8Array
): Result.Result<{ readonly serial: number; readonly echo: OriginEcho }, Malformed> => {
  const fields = decodeFields(view(bytes).subarray(serialBytes))
  if (fields === undefined) return malformed("echo fields")
  const verdict = fields.get(tags.verdict)?.[0]?.[0]
  const millis = readU32(fields, tags.millis)
  if (verdict === undefined || millis === undefined) return malformed("echo")
  const status = readU32(fields, tags.status)
  const origin = readText(fields, tags.origin)
  const keyExchange = readText(fields, tags.keyExchange)
  return Result.succeed({
    serial: decodeSerial(bytes),
    echo: {
      verdict: names.get(verdict) ?? "unknown",
      millis,
      ...(status !== undefined && { status }),
      // Both are shown to people: what has another form is left out.
      ...(origin !== undefined && address.test(origin) && { origin }),
      ...(keyExchange !== undefined && group.test(keyExchange) && { keyExchange })
    }
  })
}
