/** What the edge says about a stream when it opens it: for which registration, for which visitor, and what the bytes are. */
import type { Address } from "@catenet/platform/ProxyProtocol"
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed } from "./Frame.ts"
import { normalHost } from "./HostName.ts"
import { decodeFields, encodeFields, type Field, type Fields, readText, readU32, text, u32 } from "./MuxFields.ts"

const kinds = ["visitor", "mesh", "acme"] as const
const contents = ["passthrough", "terminated", "none"] as const
const tiers = ["rot", "gelb", "gruen"] as const

/** A browser, a mesh client behind Noise, or a certificate authority that validates by TLS-ALPN-01. */
export type StreamKind = (typeof kinds)[number]
/** The visitor's own TLS records, the bytes within the TLS the edge ended, or no TLS at all. */
export type StreamTls = (typeof contents)[number]
export type Tier = (typeof tiers)[number]

export interface OpenHeader {
  /** Id of the registration the stream is for. */
  readonly registration: number
  readonly kind: StreamKind
  readonly tls: StreamTls
  /** A validation outside the access window: the agent answers it from an order it has open, and the origin never does. */
  readonly challengeOnly?: boolean
  /** In host normal form. */
  readonly host?: string
  readonly tier?: Tier
  /** The visitor, as the edge sees it. */
  readonly client?: Address
  /** The address of the edge the visitor came to. */
  readonly server?: Address
  /** Visitors of the host have to log in, and the edge cannot ask them: the agent does. */
  readonly gated?: boolean
}

const tags = {
  registration: 1,
  kind: 2,
  tls: 3,
  host: 4,
  tier: 5,
  client: 6,
  server: 7,
  challengeOnly: 8,
  gated: 9
} as const

const encodeAddress = ({ address, port }: Address): Buffer => {
  const name = text(address)
  const bytes = Buffer.allocUnsafe(2 + name.length)
  bytes.writeUInt16BE(port, 0)
  bytes.set(name, 2)
  return bytes
}

const readAddress = (fields: Fields, tag: number): Address | undefined => {
  const bytes = fields.get(tag)?.[0]
  if (bytes === undefined || bytes.length < 3 || bytes.length > 66) return undefined
  return { port: bytes.readUInt16BE(0), address: bytes.toString("latin1", 2) }
}

const readChoice = <A extends string>(fields: Fields, tag: number, choices: ReadonlyArray<A>): A | undefined => {
  const index = fields.get(tag)?.[0]?.[0]
  return index === undefined ? undefined : choices[index]
}

export const encodeOpen = (header: OpenHeader): Buffer => {
  const fields: Array<Field> = [
    [tags.registration, u32(header.registration)],
    [tags.kind, Uint8Array.of(kinds.indexOf(header.kind))],
    [tags.tls, Uint8Array.of(contents.indexOf(header.tls))]
  ]
  if (header.challengeOnly === true) fields.push([tags.challengeOnly, Uint8Array.of(1)])
  if (header.host !== undefined) fields.push([tags.host, text(header.host)])
  if (header.tier !== undefined) fields.push([tags.tier, Uint8Array.of(tiers.indexOf(header.tier))])
  if (header.client !== undefined) fields.push([tags.client, encodeAddress(header.client)])
  if (header.server !== undefined) fields.push([tags.server, encodeAddress(header.server)])
  if (header.gated === true) fields.push([tags.gated, Uint8Array.of(1)])
  return encodeFields(fields)
}

export const decodeOpen = (bytes: Uint8Array): Result.Result<OpenHeader, Malformed> => {
  const fields = decodeFields(bytes)
  if (fields === undefined) return malformed("open fields")
  const registration = readU32(fields, tags.registration)
  const kind = readChoice(fields, tags.kind, kinds)
  const tls = readChoice(fields, tags.tls, contents)
  if (registration === undefined || kind === undefined || tls === undefined) return malformed("open header")
  const host = readText(fields, tags.host)
  if (host !== undefined && normalHost(host) !== host) return malformed("open host")
  const tier = readChoice(fields, tags.tier, tiers)
  const client = readAddress(fields, tags.client)
  const server = readAddress(fields, tags.server)
  return Result.succeed({
    registration,
    kind,
    tls,
    ...(fields.get(tags.challengeOnly)?.[0]?.[0] === 1 && { challengeOnly: true }),
    ...(host !== undefined && { host }),
    ...(tier !== undefined && { tier }),
    ...(client !== undefined && { client }),
    ...(server !== undefined && { server }),
    ...(fields.get(tags.gated)?.[0]?.[0] === 1 && { gated: true })
  })
}
