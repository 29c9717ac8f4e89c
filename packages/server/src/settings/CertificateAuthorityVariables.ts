/**
 * CT_CP_ACME_CAS, the certificate authorities that hostnames are offered, and the pairs of
 * variables that bind an authority to an account of ours. Known authorities need only their name; others are at the
 * directory that is named with them.
 */
import { type CertificateAuthority, certificateAuthorities } from "@catenet/domain/certificates/CertificateAuthorities"
import * as Parser from "@catenet/platform/Parser"
import * as SecretParser from "@catenet/platform/SecretParser"
import * as Variable from "@catenet/platform/Variable"
import { Config, type Redacted } from "effect"

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

const parser = Parser.make(
  "names between commas, each with its directory URL if it is not known, and a weekly budget",
  parse
)

const shortened = new Map([["google-trust-services", "GTS"]])
const capitals = (name: string) => shortened.get(name) ?? name.replace(/[^a-z0-9]/g, "").toUpperCase()

const kidOf = (name: string) =>
  Variable.optional(
    `CT_CP_ACME_EAB_${name}_KID`,
    Parser.text,
    "Key id of the account at an authority: ZEROSSL, GTS, SSLCOM, or its name in capitals."
  )
const hmacOf = (name: string) =>
  Variable.optional(`CT_CP_ACME_EAB_${name}_HMAC`, SecretParser.secret, "HMAC key of that account, base64url.")

/** The authority with the binding that its pair of variables gives it. */
const bound = (named: Named): Config.Config<Authority> => {
  const name = capitals(named.name)
  return Config.map(Config.all({ kid: kidOf(name).config, hmac: hmacOf(name).config }), ({ hmac, kid }) => {
    const binding = kid === undefined || hmac === undefined ? undefined : { kid, hmac }
    const known = certificateAuthorities.find((ca) => ca.name === named.name && ca.directoryUrl === named.directoryUrl)
    const isHalfBound = binding === undefined && (kid !== undefined || hmac !== undefined)
    const requiresEab = known?.requiresEab ?? (binding !== undefined || isHalfBound)
    return { ...named, requiresEab, binding, isHalfBound }
  })
}

const list = Variable.defaulted(
  "CT_CP_ACME_CAS",
  parser,
  "letsencrypt,zerossl,google-trust-services",
  "Certificate authorities; the one with the largest remaining share of its weekly budget is assigned, the first if equal."
)

/** The pairs of variables, for which `<NAME>` stands in the names. */
const pairs: ReadonlyArray<Variable.Described> = [kidOf("<NAME>"), hmacOf("<NAME>")]

export const variable: Variable.Variable<Authorities> = Variable.withFamily(list, pairs, (listed) => {
  const others = certificateAuthorities.filter(({ name }) => listed.every((named) => named.name !== name))
  return Config.all({ listed: Config.all(listed.map(bound)), others: Config.all(others.map(bound)) })
})
