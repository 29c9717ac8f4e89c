/**
 * CT_CP_ACME_CAS, the certificate authorities that hostnames are offered, and the pairs of
 * variables that bind an authority to an account of ours. Known authorities need only their name; others are at the
 * directory that is named with them.
 */
import { type CertificateAuthority, certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
import { Effect, type Redacted, Schema } from "effect"
import * as Forms from "./Forms.ts"
import * as Variable from "./Variable.ts"

export interface Binding {
  readonly kid: string
  readonly hmac: Redacted.Redacted
}

export interface Authority extends CertificateAuthority {
  readonly binding: Binding | undefined
  /** Only one of the pair of variables is set. */
  readonly isHalfBound: boolean
}

export interface Authorities {
  /** Those that are offered, in order. */
  readonly listed: ReadonlyArray<Authority>
  /** Those that are not, which earlier assignments may still name. */
  readonly others: ReadonlyArray<Authority>
}

/** Certificates a week for one domain, where nothing else is said. */
const usualBudget = 40

const shape = /^([a-z0-9][a-z0-9.-]{0,62})(?:\s+(https?:\/\/\S+))?(?:\s+([1-9]\d{0,8}))?$/

type Named = Omit<CertificateAuthority, "requiresEab">

const parseItem = (text: string): Named | undefined => {
  const [, name = "", url, budget] = shape.exec(text.trim()) ?? []
  const known = certificateAuthorities.find((ca) => ca.name === name)
  const directoryUrl = url ?? known?.directoryUrl
  if (directoryUrl === undefined || !URL.canParse(directoryUrl)) return undefined
  return {
    name,
    directoryUrl,
    weeklyBudget: budget === undefined ? known?.weeklyBudget || usualBudget : Number(budget)
  }
}

const parse = (text: string): ReadonlyArray<Named> | undefined => {
  const items = text.split(",").map(parseItem)
  const whole = items.filter((item) => item !== undefined)
  return whole.length === items.length && new Set(whole.map(({ name }) => name)).size === whole.length
    ? whole
    : undefined
}

const form = Forms.from(
  "names between commas, each with its directory URL if it is not known, and a weekly budget",
  Schema.Array(Schema.Struct({ name: Schema.String, directoryUrl: Schema.String, weeklyBudget: Schema.Int })),
  parse
)

const shortened = new Map([["google-trust-services", "GTS"]])
const capitals = (name: string) => shortened.get(name) ?? name.replace(/[^a-z0-9]/g, "").toUpperCase()

const bound = Effect.fnUntraced(function* (named: Named) {
  const prefix = `CT_CP_ACME_EAB_${capitals(named.name)}`
  const kid = yield* Variable.optional(`${prefix}_KID`, Forms.text, "").read
  const hmac = yield* Variable.optional(`${prefix}_HMAC`, Forms.secret, "").read
  const binding = kid === undefined || hmac === undefined ? undefined : { kid, hmac }
  const known = certificateAuthorities.find((ca) => ca.name === named.name && ca.directoryUrl === named.directoryUrl)
  const isHalfBound = binding === undefined && (kid !== undefined || hmac !== undefined)
  const authority: Authority = {
    ...named,
    requiresEab: known?.requiresEab ?? (binding !== undefined || isHalfBound),
    binding,
    isHalfBound
  }
  return authority
})

const list = Variable.defaulted(
  "CT_CP_ACME_CAS",
  form,
  "letsencrypt,zerossl,google-trust-services",
  "Certificate authorities: of them the one with most of its weekly budget left is offered, of equals the first."
)

export const variable: Variable.Variable<Authorities> = {
  ...list,
  read: Effect.gen(function* () {
    const listed = yield* list.read
    const others = certificateAuthorities.filter(({ name }) => listed.every((named) => named.name !== name))
    return { listed: yield* Effect.forEach(listed, bound), others: yield* Effect.forEach(others, bound) }
  })
}

/** Rows of the configuration table for the pairs. */
export const pairs = [
  {
    name: "CT_CP_ACME_EAB_<NAME>_KID",
    meaning: "Key id of our account at an authority: ZEROSSL, GTS, SSLCOM or its name in capitals.",
    expected: Forms.text.expected,
    fallback: "unset"
  },
  {
    name: "CT_CP_ACME_EAB_<NAME>_HMAC",
    meaning: "Its HMAC key as base64url.",
    expected: Forms.secret.expected,
    fallback: "unset"
  }
]
