/**
 * The parsing rules of single variables. Every refusal is one sentence that begins with the variable's name and ends with the
 * next step; a value is never repeated, since it may be a secret.
 */
import * as Hex from "@catenet/crypto/Hex"
import { Redacted, Result } from "effect"
import { isIP } from "node:net"
import type { Raw, Variable } from "./Variables.ts"

export type Parsed<A> = Result.Result<A, string>

/** Where to connect or listen. The host is a name or an IP literal without brackets. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** `host:port` as people write it: IPv6 literals in brackets. */
export const formatHostPort = ({ host, port }: HostPort) =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`

/** The trimmed text, or nothing when it is unset or blank. */
export const text = (raw: Raw, name: Variable): string | undefined => {
  const trimmed = raw[name]?.trim()
  return trimmed === undefined || trimmed === "" ? undefined : trimmed
}

const optional = <A>(raw: Raw, name: Variable, parse: (value: string) => Parsed<A>): Parsed<A | undefined> => {
  const value = text(raw, name)
  return value === undefined ? Result.succeed(undefined) : parse(value)
}

/** 32 bytes as 64 hex characters of any case; kept as lower-case text out of sight of logs. */
export const secret32 = (raw: Raw, name: Variable): Parsed<Redacted.Redacted | undefined> =>
  optional(raw, name, (value) =>
    /^[0-9a-fA-F]{64}$/.test(value)
      ? Result.succeed(Redacted.make(value.toLowerCase()))
      : Result.fail(`${name} is not a token. Copy all of its 64 hex characters from the install page of the tunnel.`)
  )

/** The seed of an Ed25519 key, which must be set: 64 hex characters of any case. */
export const privateKey = (raw: Raw, name: Variable): Parsed<Redacted.Redacted<Uint8Array>> =>
  Result.match(Hex.decode(text(raw, name) ?? ""), {
    onSuccess: (seed) =>
      seed.length === 32
        ? Result.succeed(Redacted.make(seed))
        : Result.fail(`${name} is not a key of 64 hex characters.`),
    onFailure: () => Result.fail(`${name} is not a key of 64 hex characters.`)
  })

/** Any non-blank text, kept out of sight of logs. */
export const secret = (raw: Raw, name: Variable) => {
  const value = text(raw, name)
  return value === undefined ? undefined : Redacted.make(value)
}

/** The address in `host:port` or `[v6]:port`, port 0 included. */
export const parseHostPort = (value: string): HostPort | undefined => {
  const found = /^(?:\[([0-9a-fA-F:.%]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/.exec(value)
  const host = found?.[1] ?? found?.[2]
  const port = Number(found?.[3])
  if (host === undefined || port > 65_535 || (found?.[1] !== undefined && isIP(host) !== 6)) return undefined
  return { host, port }
}

/** `host:port`, port 1 to 65535; `[...]` around an IPv6 literal. */
export const hostPort = (raw: Raw, name: Variable): Parsed<HostPort | undefined> =>
  optional(raw, name, (value) => {
    const parsed = parseHostPort(value)
    return parsed !== undefined && parsed.port > 0
      ? Result.succeed(parsed)
      : Result.fail(`${name} is not host:port. Write a host and a port from 1 to 65535, for example 127.0.0.1:8080.`)
  })

/** As `hostPort`, and port 0 lets the system choose one. */
export const listenAddress = (raw: Raw, name: Variable): Parsed<HostPort | undefined> =>
  optional(raw, name, (value) => {
    const parsed = parseHostPort(value)
    return parsed === undefined
      ? Result.fail(`${name} is not host:port. Write an address to listen on, for example 127.0.0.1:9610.`)
      : Result.succeed(parsed)
  })

/** A base address without its trailing slashes. */
export const baseUrl = (raw: Raw, name: Variable): Parsed<string | undefined> =>
  optional(raw, name, (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    return url !== undefined && (url.protocol === "http:" || url.protocol === "https:") && url.search + url.hash === ""
      ? Result.succeed(value.replace(/\/+$/, ""))
      : Result.fail(`${name} is not an http or https address. Write it like https://portal.example.org.`)
  })

/** One of some words, any case. `blank` is what a variable that is set to nothing means. */
export const word = <const A extends string>(
  raw: Raw,
  name: Variable,
  options: { readonly words: ReadonlyArray<A>; readonly unset: A; readonly blank: A | undefined }
): Parsed<A> => {
  const value = raw[name]?.trim().toLowerCase()
  if (value === undefined) return Result.succeed(options.unset)
  const found = value === "" ? options.blank : options.words.find((each) => each === value)
  return found === undefined
    ? Result.fail(`${name} must be ${options.words.join(" or ")}. Correct it, or unset it for ${options.unset}.`)
    : Result.succeed(found)
}

const digits = (value: string, least: number, most: number) => {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  return number >= least && number <= most ? number : undefined
}

/** An integer from 1 to 65,535; 0 and anything else is refused. */
export const positive = (raw: Raw, name: Variable, unset: number): Parsed<number> =>
  Result.map(
    optional(raw, name, (value) => {
      const number = digits(value, 1, 65_535)
      return number === undefined
        ? Result.fail(`${name} must be a number from 1 to 65535. Correct it, or unset it for ${unset}.`)
        : Result.succeed(number)
    }),
    (number) => number ?? unset
  )

/** A port, 0 for any free one. */
export const port = (raw: Raw, name: Variable): Parsed<number | undefined> =>
  optional(raw, name, (value) => {
    const number = digits(value, 0, 65_535)
    return number === undefined
      ? Result.fail(`${name} is not a port. Write a number from 1 to 65535, or unset it for any free port.`)
      : Result.succeed(number)
  })

/** An unsigned 32-bit integer; anything else counts as unset. */
export const lenient = (raw: Raw, name: Variable): number | undefined => {
  const value = text(raw, name)
  return value === undefined ? undefined : digits(value, 0, 4_294_967_295)
}

/** An IP literal. */
export const ip = (raw: Raw, name: Variable): Parsed<string | undefined> =>
  optional(raw, name, (value) =>
    isIP(value) === 0
      ? Result.fail(`${name} is not an IP address. Write the address that peers can reach, or unset it.`)
      : Result.succeed(value)
  )

/** True for any non-empty value except `0` and `false`. */
export const unlessFalse = (raw: Raw, name: Variable) =>
  !["", "0", "false"].includes(raw[name]?.trim().toLowerCase() ?? "")
