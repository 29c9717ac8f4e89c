/** The environment of each program of a platform on a domain of one's own. What an operator sets goes before. */
import { Redacted } from "effect"
import * as Environments from "../up/Environments.ts"
import { edgesNames, isOfControlPlane } from "../up/ProgramVariables.ts"
import type { Secrets } from "../up/Secrets.ts"
import { names as ofTheStack } from "../up/Settings.ts"
import type { Listen, UpSettings } from "../up/Settings.ts"
import type { StackFolder } from "../up/StackFolder.ts"
import type { PlatformFile } from "./PlatformFile.ts"

type Environment = Readonly<Record<string, string>>

export interface Platform {
  readonly file: PlatformFile
  readonly settings: UpSettings
  readonly folder: StackFolder
  readonly secrets: Secrets
  readonly password: Redacted.Redacted
  /** What the operator has set, by variables of the process and of the file. */
  readonly given: Environment
}

/** What `up` itself reads of an operator's variables, where nothing is set: visitors and agents come from outside. */
export const listeners: Environment = { CT_FRONT_DOOR: "0.0.0.0:443", CT_EDGE_LISTEN: "0.0.0.0:4433" }

export const hosts = ({ domain }: Pick<PlatformFile, "domain">) => ({
  portal: `portal.${domain}`,
  signIn: `auth.${domain}`
})

const isOfSignIn = (name: string) => name.startsWith("CT_IDP_")

/** Names that `up` or the identity provider reads, so that they are no mistake. */
export const othersOf = (given: Environment): ReadonlySet<string> =>
  new Set([...ofTheStack, ...Object.keys(given).filter(isOfSignIn)])

const chosen = (given: Environment, isRead: (name: string) => boolean): Environment =>
  Object.fromEntries(Object.entries(given).filter(([name, text]) => text.trim() !== "" && isRead(name)))

export const origin = (host: string, { frontDoor: { port } }: UpSettings) =>
  `https://${host}${port === 443 ? "" : `:${port}`}`

export const portalUrl = ({ file, settings }: Platform) => origin(hosts(file).portal, settings)

/** At this machine, where the listener takes every address. */
export const here = (listen: Listen): Listen =>
  listen.host === "0.0.0.0" || listen.host === "::" ? { ...listen, host: "127.0.0.1" } : listen

/** Of the control plane's own variables: its database, seal key and mail server. */
const isOfState = (name: string) =>
  /^CT_CP_(?:DATABASE_(?:DIRECT_)?URL|SEAL_KEY|SMTP_(?:URL|ROOTS)|MAIL_FROM)(?:_FILE)?$/u.test(name)

export const ofSignIn = (platform: Platform, databaseUrl: Redacted.Redacted): Environment => {
  const { file, folder, given, password, secrets, settings } = platform
  return {
    ...Environments.ofIdentityProvider(settings, folder, secrets),
    CT_IDP_STATE: "database",
    ...(file.registration === undefined ? {} : { CT_IDP_REGISTRATION: file.registration }),
    CT_CP_DATABASE_POOL: "4",
    CT_CP_SEAL_KEY: secrets.sealKey,
    CT_PORTAL_BASE_URL: portalUrl(platform),
    CT_IDP_PUBLIC_URL: origin(hosts(file).signIn, settings),
    CT_IDP_PORTAL_URL: portalUrl(platform),
    CT_IDP_TRUSTED_PROXIES: "127.0.0.0/8,::1",
    CT_IDP_USER_EMAIL: file.email,
    CT_IDP_USER_PASSWORD: Redacted.value(password),
    ...chosen(given, (name) => isOfSignIn(name) || isOfState(name)),
    CT_CP_DATABASE_URL: Redacted.value(databaseUrl)
  }
}

/** What the stack sets for the authorities and names of one machine. */
const ofDevelopment = new Set([
  "CT_CP_ALERTS_LOOPBACK",
  "CT_CP_ACME_CAS",
  "CT_CP_ACME_BROKER_TICK_SECS",
  "CT_CP_ACME_EAB_DEVELOPMENTBOUND_KID",
  "CT_CP_ACME_EAB_DEVELOPMENTBOUND_HMAC",
  "CT_CP_RESERVED_HOSTNAMES",
  "CT_CP_AGENTS_URL"
])

export const ofControlPlane = (platform: Platform, databaseUrl: Redacted.Redacted): Environment => {
  const { file, folder, given, secrets, settings } = platform
  const { portal, signIn } = hosts(file)
  const url = portalUrl(platform)
  const provider = Environments.url(settings.identityProvider)
  const protocol = `${provider}/realms/${Environments.realm}/protocol/openid-connect`
  const same = Object.entries(Environments.ofControlPlane(settings, folder, secrets, databaseUrl))
  return {
    ...Object.fromEntries(same.filter(([name]) => !ofDevelopment.has(name))),
    CT_CHANNEL_FRONT_DOOR: Environments.address(here(settings.frontDoor)),
    CT_CP_HOSTNAME_ZONE: file.domain,
    CT_CP_OPERATORS: file.email,
    CT_CP_PLATFORM_ACME: file.certificates ?? "letsencrypt",
    CT_CP_PLATFORM_HOSTS: `${portal},${signIn}`,
    CT_GATE_COOKIE_DOMAIN: file.domain,
    CT_PORTAL_BASE_URL: url,
    CT_OIDC_ISSUER: `${origin(signIn, settings)}/realms/${Environments.realm}`,
    CT_OIDC_REDIRECT_URI: `${url}/portal/callback`,
    // From this machine without the way around by its public address, which not every network has.
    CT_OIDC_TOKEN_URL: `${protocol}/token`,
    CT_OIDC_JWKS_URL: `${protocol}/certs`,
    KEYCLOAK_PUBLIC_URL: provider,
    ...chosen(given, isOfControlPlane),
    CT_CP_DATABASE_URL: Redacted.value(databaseUrl)
  }
}

const ofFiles = new Set(["CT_EDGE_WILDCARD_CERT", "CT_EDGE_WILDCARD_KEY", "CT_EDGE_PORTAL_CERT", "CT_EDGE_PORTAL_KEY"])

export const ofEdge = ({ file, folder, given, secrets, settings }: Platform): Environment => {
  const { portal, signIn } = hosts(file)
  const same = Object.entries(Environments.ofEdge(settings, folder, secrets))
  return {
    ...Object.fromEntries(same.filter(([name]) => !ofFiles.has(name))),
    CT_EDGE_PUBLIC_ADDR: `${portal}:${settings.mesh.port}`,
    CT_EDGE_PLATFORM_CERTIFICATES: "1",
    CT_EDGE_PORTAL_HOST: portal,
    CT_EDGE_AUTH_HOST: signIn,
    CT_EDGE_AUTH_ADDR: Environments.address(settings.identityProvider),
    CT_EDGE_AUTH_PROXY_PROTOCOL: "1",
    ...chosen(given, (name) => edgesNames.has(name))
  }
}
