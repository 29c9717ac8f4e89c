/**
 * Rules of a tunnel, in their order, as its owner writes them in the agent's file or sets them at the control plane. Each is an
 * object with one member, which names it. The edge applies them where it ends the TLS of visitors, otherwise the agent does.
 */
import { Effect, Schema } from "effect"
import { lowerAscii } from "../values/AsciiCase.ts"
import { boundedArray, boundedRecord } from "../values/BoundedArray.ts"
import { Email } from "../values/Email.ts"
import { Hostname } from "../values/Hostname.ts"
import { literal, malformedText, pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { AddressRange } from "./AddressRange.ts"
import { ByteSize, Rate } from "./Amount.ts"

/** Exactly one of the members. */
const one = (expected: string) =>
  [
    Schema.isMinProperties(1, { expected, [malformedText]: true }),
    Schema.isMaxProperties(1, { expected, [malformedText]: true })
  ] as const

/** Rules of one tunnel. */
export const maxRules = 64

/** An exact path, or with `*` at its end every path that begins so. */
export const PathPattern = Schema.String.check(
  pattern(/^\/[A-Za-z0-9._~!$&'()+,;=:@%/-]{0,200}\*?$/u, "a path such as /login, or /api/* for all that begin so")
)
export type PathPattern = typeof PathPattern.Type

/** Fields that say where a message ends, or belong to one connection. */
const ofConnection =
  "connection content-length keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade"
/** Fields by which the origin recognizes the visitor. */
const ofVisitor = /^(?:x-forwarded-.*|x-gate-.*|x-real-ip|x-request-id|forwarded|host|expect)$/u
const structural: ReadonlySet<string> = new Set(ofConnection.split(" "))

const FieldName = Schema.String.check(
  pattern(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/u, "a field name of letters, digits, hyphens and underscores")
)
const FieldValue = Schema.String.check(
  Schema.isMaxLength(2000),
  // Without a count: Go repeats at most 1000 times.
  pattern(/^(?:[!-~](?:[ -~]*[!-~])?)?$/u, "a field value of at most 2000 printable ASCII characters")
)

const edits = (isRefused: (name: string) => boolean, expected: string) =>
  Schema.Struct({
    set: Schema.optionalKey(boundedRecord(32, FieldName, FieldValue)),
    remove: Schema.optionalKey(boundedArray(32, FieldName, 1))
  }).check(
    Schema.isMinProperties(1, { expected: "set, remove, or both", [malformedText]: true }),
    Schema.makeFilter(
      ({ remove = [], set = {} }) => ![...remove, ...Object.keys(set)].some((name) => isRefused(lowerAscii(name))),
      { expected, [malformedText]: true }
    )
  )

const RequestHeaders = edits(
  (name) => structural.has(name) || ofVisitor.test(name),
  "request fields that neither frame the message nor name the visitor (host_header sets Host)"
)
const ResponseHeaders = edits((name) => structural.has(name), "response fields that do not frame the message")

/** `true`: whoever may pass the login. Otherwise only these addresses, and all addresses of these domains. */
const Persons = Schema.Struct({
  emails: Schema.optionalKey(boundedArray(256, Email)),
  domains: Schema.optionalKey(boundedArray(64, Hostname))
}).check(
  Schema.makeFilter(({ domains = [], emails = [] }) => domains.length + emails.length > 0, {
    expected: "emails, domains, or both; write require_login: true for everyone who may sign in",
    [malformedText]: true
  })
)

export const RateLimit = Schema.Struct({ per: literal(["address", "session", "tunnel"]), rate: Rate })
export type RateLimit = typeof RateLimit.Type

/** `NAME:HASH` as in a htpasswd file; the hash is scrypt in PHC form, of at most 32 MiB of memory. */
const Password = Schema.String.check(
  pattern(
    /^[!-9;-~]{1,64}:\$scrypt\$ln=1[0-5],r=8,p=1\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{22,86}$/u,
    "NAME:$scrypt$ln=14,r=8,p=1$SALT$HASH with ln from 10 to 15"
  )
)

export const BasicAuth = Schema.Struct({
  file: Schema.optionalKey(line(4096)),
  users: Schema.optionalKey(boundedArray(64, Password, 1))
}).check(...one("either file or users"))
export type BasicAuth = typeof BasicAuth.Type

const WebOrigin = Schema.String.check(
  pattern(
    /^(?:\*|https?:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)$/u,
    "an origin such as https://app.example.net without a path, or *"
  )
)
const Token = Schema.String.check(pattern(/^[A-Za-z][A-Za-z0-9-]{0,63}$/u, "a name of letters, digits and hyphens"))

/** Answers preflights, and names the origins whose pages may read what is answered. */
export const Cors = Schema.Struct({
  origins: boundedArray(64, WebOrigin, 1),
  methods: Schema.optionalKey(boundedArray(16, Token, 1)),
  /** Fields that a request may have; without the member those that it asks for. */
  headers: Schema.optionalKey(boundedArray(64, Token, 1)),
  expose: Schema.optionalKey(boundedArray(64, Token, 1)),
  credentials: Schema.optionalKey(Schema.Boolean),
  /** Seconds for which a browser may keep the answer to a preflight. */
  max_age: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })))
}).check(
  Schema.makeFilter(({ credentials, origins }) => credentials !== true || !origins.includes("*"), {
    expected: "named origins where credentials are allowed",
    [malformedText]: true
  })
)
export type Cors = typeof Cors.Type

const statuses = [301, 302, 303, 307, 308] as const

/** A `*` at the end of both carries the rest of the path over. The query is kept. */
export const Redirect = Schema.Struct({
  from: PathPattern,
  to: Schema.String.check(
    pattern(
      /^(?:https?:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?)?\/(?:[A-Za-z0-9._~!$&'()+,;=:@%?-][A-Za-z0-9._~!$&'()+,;=:@%?/-]{0,500})?\*?$/u,
      "a path, or an address such as https://example.net/new"
    )
  ),
  status: Schema.Literals(statuses).pipe(Schema.withDecodingDefaultKey(Effect.succeed(308 as const)))
})
export type Redirect = typeof Redirect.Type

/** At an agent only: the visitor shows a certificate of this authority, a file in PEM. */
const Mtls = Schema.Struct({ ca: line(4096) })

const kinds = {
  require_login: Schema.Union([Schema.Literal(true), Persons]),
  allow: boundedArray(256, AddressRange),
  rate_limit: RateLimit,
  basic_auth: BasicAuth,
  request_headers: RequestHeaders,
  response_headers: ResponseHeaders,
  cors: Cors,
  redirect: Redirect,
  max_body: ByteSize,
  mtls: Mtls
}

export type RuleName = keyof typeof kinds
export const ruleNames = Object.keys(kinds) as ReadonlyArray<RuleName>

/** One rule. */
export const Rule = Schema.Struct({
  require_login: Schema.optionalKey(kinds.require_login),
  allow: Schema.optionalKey(kinds.allow),
  rate_limit: Schema.optionalKey(kinds.rate_limit),
  basic_auth: Schema.optionalKey(kinds.basic_auth),
  request_headers: Schema.optionalKey(kinds.request_headers),
  response_headers: Schema.optionalKey(kinds.response_headers),
  cors: Schema.optionalKey(kinds.cors),
  redirect: Schema.optionalKey(kinds.redirect),
  max_body: Schema.optionalKey(kinds.max_body),
  mtls: Schema.optionalKey(kinds.mtls)
}).check(...one(`a rule with one of ${ruleNames.join(", ")}; write a second rule as a second item`))
export type Rule = typeof Rule.Type

/** Rules in the file of an agent, which may name files beside it. */
export const Rules = boundedArray(maxRules, Rule)
export type Rules = typeof Rules.Type

/** Rules in the file of services or in the flags of an agent, which sets them at the control plane. */
export const DemandedRules = boundedArray(
  maxRules,
  Rule.check(
    Schema.makeFilter(({ mtls }: Rule) => mtls === undefined, {
      expected: "a supported rule (mtls is not supported)",
      [malformedText]: true
    })
  )
)

/** Rules at the control plane, where no file of the agent can be read. */
export const StoredRules = boundedArray(
  maxRules,
  Rule.check(
    Schema.makeFilter(({ basic_auth, mtls }: Rule) => basic_auth?.file === undefined && mtls === undefined, {
      expected: "basic_auth with users instead of a file, and no mtls: these belong in the agent's file",
      [malformedText]: true
    })
  )
)
export type StoredRules = typeof StoredRules.Type
