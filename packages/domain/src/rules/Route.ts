/** Where a service of an agent sends its visitors: origins, and routes to them by path. */
import { Effect, Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { malformedText, pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { Period } from "./Amount.ts"
import { PathPattern } from "./Rules.ts"

/** A place that answers requests. */
export type OriginPlace =
  | { readonly _tag: "Plain"; readonly host: string; readonly port: number; readonly isHttp2: boolean }
  | { readonly _tag: "Tls"; readonly host: string; readonly port: number }
  | { readonly _tag: "Unix"; readonly path: string }
  | { readonly _tag: "Folder"; readonly path: string }

const authority = /^(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}))(?::([1-9][0-9]{0,4}))?$/u
const defaults = new Map([
  ["http", 80],
  ["h2c", 80],
  ["https", 443]
])

const written = (scheme: string, text: string, whole: string): OriginPlace | string => {
  const [, named = "", port] = authority.exec(scheme === "" ? text : text.replace(/\/$/u, "")) ?? []
  if (named === "")
    return text.includes("/")
      ? `an origin without a path: write ${scheme}://${text.split("/")[0]}, and a route with path and strip_prefix`
      : `${scheme}://HOST:PORT`
  const number = port === undefined ? defaults.get(scheme) : Number(port)
  if (number === undefined) return `a port: write http://${whole}:PORT`
  if (number > 65_535) return `a port from 1 to 65535 instead of ${port}`
  const host = named.replace(/^\[(.*)\]$/u, "$1")
  return scheme === "https"
    ? { _tag: "Tls", host, port: number }
    : { _tag: "Plain", host, port: number, isHttp2: scheme === "h2c" }
}

/**
 * Reads the address of an origin; a text says what should have been written.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { originPlace } from "@catenet/domain/rules/Route"
 *
 * deepStrictEqual(originPlace("https://10.0.0.5"), { _tag: "Tls", host: "10.0.0.5", port: 443 })
 * deepStrictEqual(originPlace("unix:/run/app.sock"), { _tag: "Unix", path: "/run/app.sock" })
 * deepStrictEqual(originPlace("3000"), "an address: write http://127.0.0.1:3000")
 * ```
 */
export const originPlace = (text: string): OriginPlace | string => {
  const [, scheme, rest = ""] = /^(http|https|h2c):\/\/(.*)$/su.exec(text) ?? []
  if (scheme !== undefined) return written(scheme, rest, text)
  const [, kind, path = ""] = /^(unix|file):(.*)$/su.exec(text) ?? []
  if (kind !== undefined && path !== "") {
    if (kind === "file") return { _tag: "Folder", path: path.replace(/^\/\/(?=\/)/u, "") }
    return path.startsWith("/") && !path.startsWith("//")
      ? { _tag: "Unix", path }
      : `an absolute path: write unix:/${path.replace(/^[./]+/u, "")}`
  }
  if (/^[0-9]{1,5}$/u.test(text)) return `an address: write http://127.0.0.1:${text}`
  if (/^[./~]/u.test(text)) return `an address: write file:${text} for a folder, or unix:${text} for a socket`
  return text.includes("://")
    ? "http://, https:// or h2c:// before HOST:PORT, unix:PATH or file:PATH"
    : written("", text, text)
}

export const OriginAddress = Schema.String.check(
  Schema.isMaxLength(1024),
  Schema.makeFilter(
    (text: string) => {
      const place = originPlace(text)
      return typeof place !== "string" || `Expected ${place}`
    },
    {
      expected: "an origin such as http://127.0.0.1:3000, https://HOST, h2c://HOST:PORT, unix:PATH or file:PATH",
      [malformedText]: true,
      arbitraryConstraint: {
        patterns: [
          { source: "^(?:(?:https?|h2c):\\/\\/[a-z]{1,9}:[1-9][0-9]{0,3}|(?:unix:\\/|file:)[a-z]{1,9})$", flags: "u" }
        ]
      }
    }
  )
)
export type OriginAddress = typeof OriginAddress.Type

/** `origin`: the origin's own name, `keep`: the visitor's, or another name. */
export const HostHeader = Schema.String.check(
  pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,252}(?::[0-9]{1,5})?$/u, "origin, keep, or a host name with or without a port")
)
export type HostHeader = typeof HostHeader.Type

/** An origin is asked for this path; an answer from 200 to 399 is healthy. */
const Health = Schema.Struct({
  path: Schema.String.check(pattern(/^\/[!-~]{0,500}$/u, "a path such as /healthz")),
  every: Period.pipe(Schema.withDecodingDefaultKey(Effect.succeed("10s")))
})

/** How an origin is spoken to; the same members stand at a service with one origin. */
export const OriginOptions = Schema.Struct({
  host_header: Schema.optionalKey(HostHeader),
  /** For `https://`: a file in PEM with the authorities to trust instead of those of the system. */
  ca: Schema.optionalKey(line(4096)),
  /** For `https://`: any certificate will do. */
  insecure: Schema.optionalKey(Schema.Boolean),
  /** For `file:`: lists folders that have no index.html. */
  listing: Schema.optionalKey(Schema.Boolean),
  health: Schema.optionalKey(Health)
})
export type OriginOptions = typeof OriginOptions.Type

/**
 * Whether a route for this pattern takes a request for the path.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { takes } from "@catenet/domain/rules/Route"
 *
 * deepStrictEqual([takes("/v1/*", "/v1/a"), takes("/v1/*", "/v1"), takes("/v1", "/v1")], [true, false, true])
 * ```
 */
export const takes = (pattern: PathPattern, path: string): boolean =>
  pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern

/** Origins of one route. */
export const maxOrigins = 32

/** The first route whose path fits takes a request. */
export const Route = Schema.Struct({
  path: PathPattern.pipe(Schema.withDecodingDefaultKey(Effect.succeed("/*"))),
  to: Schema.Union([OriginAddress, boundedArray(maxOrigins, OriginAddress, 1)]),
  /** Taken off the path before the origin sees it. */
  strip_prefix: Schema.optionalKey(
    Schema.String.check(
      pattern(
        /^\/[A-Za-z0-9._~!$&'()+,;=:@%/-]{0,200}[A-Za-z0-9._~!$&'()+,;=:@%-]$/u,
        "the beginning of a path, such as /v1"
      )
    )
  ),
  ...OriginOptions.fields
})
export type Route = typeof Route.Type

export const Routes = boundedArray(64, Route, 1)
export type Routes = typeof Routes.Type
