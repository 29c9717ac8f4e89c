/** The forms that variables take: how a text is read and what to call it when it is refused. */
import { type Redacted, Result, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { IpNetwork } from "effect/net"
import { isIP } from "node:net"
import type { Form } from "./Variable.ts"

export interface Address {
  readonly host: string
  readonly port: number
}

/** A form by the function that reads it; what does not read is undefined. */
export const from = <A>(
  expected: string,
  target: Schema.Codec<A>,
  parse: (text: string) => A | undefined
): Form<A> => ({
  expected,
  schema: Schema.String.pipe(
    Schema.decodeTo(Schema.UndefinedOr(target), {
      decode: SchemaGetter.transform(parse),
      encode: SchemaGetter.transform(String)
    }),
    Schema.decodeTo(target, SchemaTransformation.passthroughSupertype())
  )
})

const between = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : undefined
  return value !== undefined && value >= minimum && value <= maximum ? value : undefined
}

export const text: Form<string> = { expected: "a text", schema: Schema.String }

/** Any text that must not be shown. */
export const secret: Form<Redacted.Redacted> = {
  expected: "a secret text",
  schema: Schema.RedactedFromValue(Schema.String)
}

export const whole = (minimum: number, maximum: number): Form<number> =>
  from(`a whole number from ${minimum} to ${maximum}`, Schema.Int, between(minimum, maximum))

export const port: Form<number> = { ...whole(1, 65_535), expected: "a TCP port from 1 to 65535" }

/** `0` and `false` say no, `1` and `true` yes. */
export const flag: Form<boolean> = from("1 or 0", Schema.Boolean, (text) =>
  /^(?:1|true)$/i.test(text) ? true : /^(?:0|false)$/i.test(text) ? false : undefined
)

/** Items between commas; blanks around them and empty items are dropped. */
export const list: Form<ReadonlyArray<string>> = from("a comma list", Schema.Array(Schema.String), (text) =>
  text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
)

const Address = Schema.Struct({ host: Schema.String, port: Schema.Int })

const parseAddress = (text: string): Address | undefined => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text)
  const port = between(0, 65_535)(match?.[3] ?? "")
  const host = match?.[1] ?? match?.[2]
  return host === undefined || port === undefined ? undefined : { host, port }
}

/** `127.0.0.1:8090`, `[::1]:8090` or `name:8090`. Port 0 lets the system choose. */
export const address: Form<Address> = from("a host and a port, such as 127.0.0.1:8090", Address, parseAddress)

/** IP addresses without ports between commas, at least one. */
export const ipAddresses: Form<ReadonlyArray<string>> = from(
  "IP addresses between commas, such as 192.0.2.1,2001:db8::1",
  Schema.Array(Schema.String),
  (text) => {
    const items = text.split(",").map((item) => item.trim())
    return items.every((item) => isIP(item) !== 0 && !item.includes("%")) ? items : undefined
  }
)

/** IP addresses and networks between commas, at least one. */
export const networks: Form<ReadonlyArray<string>> = from(
  "IP addresses and networks between commas, such as 192.0.2.1,10.0.0.0/8,2001:db8::/32",
  Schema.Array(Schema.String),
  (text) => {
    const items = text
      .split(",")
      .map((item) => item.trim())
      .map((item) => (item.includes("/") ? item : `${item}/${isIP(item) === 4 ? 32 : 128}`))
    return items.every((item) => Result.isSuccess(IpNetwork.fromString(item))) ? items : undefined
  }
)

/** Addresses between commas, at least one. */
export const addresses: Form<ReadonlyArray<Address>> = from(
  "hosts with ports between commas, such as 192.0.2.1:53,[2001:db8::1]:53",
  Schema.Array(Address),
  (text) => {
    const items = text.split(",").map((item) => parseAddress(item.trim()))
    const whole = items.filter((item) => item !== undefined)
    return whole.length === items.length ? whole : undefined
  }
)

/** IP addresses with ports between commas, at least one. */
export const resolvers: Form<ReadonlyArray<Address>> = from(
  "IP addresses with ports between commas, such as 192.0.2.1:53,[2001:db8::1]:53",
  Schema.Array(Address),
  (text) => {
    const items = text.split(",").map((item) => parseAddress(item.trim()))
    const whole = items.filter((item) => item !== undefined && isIP(item.host) !== 0 && item.port > 0)
    return whole.length === items.length ? whole.filter((item) => item !== undefined) : undefined
  }
)

/** Secret bytes as base64. */
export const secretBase64: Form<Redacted.Redacted<Uint8Array>> = {
  expected: "base64",
  schema: Schema.Uint8ArrayFromBase64.pipe(
    Schema.decodeTo(Schema.RedactedFromValue(Schema.Uint8Array), SchemaTransformation.passthrough())
  )
}

const parseUrl = (protocols: ReadonlyArray<string>) => (text: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && protocols.includes(url.protocol) ? url : undefined
}

/** An http or https URL; what follows it is appended to its path. */
export const url: Form<URL> = from("an http or https URL", Schema.URL, parseUrl(["http:", "https:"]))

/** A URL at which a person is reached. */
export const contact: Form<string> = from("a mailto:, tel: or https: URL", Schema.String, (text) =>
  parseUrl(["mailto:", "tel:", "https:"])(text) === undefined ? undefined : text
)

/** An http or https URL kept letter by letter, because it is compared with what others write. */
export const issuer: Form<string> = from("an http or https URL", Schema.String, (text) =>
  parseUrl(["http:", "https:"])(text) === undefined ? undefined : text
)

/** The address of a PostgreSQL database. It holds a password. */
export const databaseUrl: Form<Redacted.Redacted> = {
  expected: "a URL such as postgres://user:password@host:5432/catenet",
  schema: Schema.String.check(
    Schema.makeFilter((text) => parseUrl(["postgres:", "postgresql:"])(text) !== undefined)
  ).pipe(Schema.decodeTo(Schema.RedactedFromValue(Schema.String), SchemaTransformation.passthrough()))
}

const hex64 = /^[0-9a-f]{64}$/i

/** One or more secrets of 32 bytes as 64 hex digits each, between commas. */
export const secretKeys: Form<ReadonlyArray<Redacted.Redacted<Uint8Array>>> = {
  expected: "64 hex digits, or several times 64 between commas",
  schema: from("", Schema.Array(Schema.String), (text) => {
    const items = text.split(",").map((item) => item.trim())
    return items.every((item) => hex64.test(item)) ? items : undefined
  }).schema.pipe(
    Schema.decodeTo(
      Schema.Array(
        Schema.Uint8ArrayFromHex.pipe(
          Schema.decodeTo(Schema.RedactedFromValue(Schema.Uint8Array), SchemaTransformation.passthrough())
        )
      )
    )
  )
}

/** 32 secret bytes as 64 hex digits. */
export const secretBytes: Form<Redacted.Redacted<Uint8Array>> = {
  expected: "64 hex digits",
  schema: Schema.String.check(Schema.isPattern(hex64)).pipe(
    Schema.decodeTo(Schema.Uint8ArrayFromHex),
    Schema.decodeTo(Schema.RedactedFromValue(Schema.Uint8Array), SchemaTransformation.passthrough())
  )
}
