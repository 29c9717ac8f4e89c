/** The environment of each program of the stack, in the variables that the same programs take when run by hand. */
import { isIP } from "@catenet/platform/IpAddress"
import { Redacted } from "effect"
import { join } from "node:path"
import { boundAccount, boundPath } from "../acme/AcmeRequest.ts"
import * as AgentReleases from "./AgentReleases.ts"
import { demoUser } from "./DemoUser.ts"
import type { Secrets } from "./Secrets.ts"
import type { Listen, UpSettings } from "./Settings.ts"
import type { StackFolder } from "./StackFolder.ts"

type Environment = Readonly<Record<string, string>>

export const address = ({ host, port }: Listen) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`)
export const url = (listen: Listen) => `http://${address(listen)}`

/** From where a program of this machine may come that dials this address. */
const ownAddresses = ({ host }: Listen) =>
  ["127.0.0.0/8", "::1", ...(isIP(host) === 0 || host === "0.0.0.0" || host === "::" ? [] : [host])].join(",")

/** The realm's name in the issuer. */
export const realm = "catenet"
const edgeId = "primary"

/** Variables of which the stack only chooses the default: an operator's value goes before. */
export const replaceable: ReadonlySet<string> = new Set([
  "CT_EDGE_RECEIPTS",
  "CT_CP_ALERTS_LOOPBACK",
  "CT_CP_OPERATORS",
  "CT_CP_ACME_BROKER_ENABLED",
  "CT_CP_ACME_BROKER_TICK_SECS",
  "CT_CP_ACME_CAS",
  "CT_CHANNEL_FRONT_DOOR",
  "CT_CP_RESERVED_HOSTNAMES",
  "CT_CP_RELEASES_DIR",
  "CT_CP_RELEASE_PUBKEY"
])

/** The name below which the portal is served over TLS, by the edge. Browsers resolve it to this machine by themselves. */
export const portalHost = "portal.localhost"

/** Names that people would take for the platform's: a sign-in page there would be believed, and mail comes from the other. */
const reservedHosts = ["auth.localhost", "catenet.localhost"]

/** Where people open the portal. Programs of this machine use the control plane's own address, without TLS. */
export const portalUrl = ({ frontDoor: { port } }: UpSettings) =>
  `https://${portalHost}${port === 443 ? "" : `:${port}`}`

/** The provider calls itself `localhost`: another host than the portal, as in a real deployment. */
export const issuer = ({ identityProvider }: UpSettings) => `http://localhost:${identityProvider.port}/realms/${realm}`

export const ofIdentityProvider = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Environment => ({
  CT_IDP_LISTEN: address(settings.identityProvider),
  CT_IDP_FOLDER: folder.idp,
  CT_IDP_REALM: realm,
  CT_IDP_PORTAL_URL: portalUrl(settings),
  CT_IDP_PORTAL_CLIENT_SECRET: secrets.portalClientSecret,
  CT_IDP_GATE_CLIENT_SECRET: secrets.gateClientSecret,
  CT_IDP_MANAGER_CLIENT_SECRET: secrets.managerClientSecret,
  CT_IDP_USER_EMAIL: demoUser.email,
  CT_IDP_USER_PASSWORD: secrets.demoPassword
})

/** The development authorities as `CT_CP_ACME_CAS` lists them: no week's budget is ever spent. */
const authorities = ({ acme: { port } }: UpSettings) =>
  [
    `development https://localhost:${port}/directory 1000000`,
    `development-bound https://localhost:${port}${boundPath}/directory 1000000`
  ].join(",")

export const ofAcme = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Environment => ({
  CT_ACME_SERVER_LISTEN: address(settings.acme),
  CT_ACME_SERVER_ROOT: folder.developmentRoot,
  CT_ACME_SERVER_ROOT_KEY: folder.developmentRootKey,
  CT_ACME_SERVER_FRONT_DOOR: address(settings.frontDoor),
  CT_ACME_SERVER_EAB_HMAC: secrets.acmeBindingKey,
  CT_ACME_SERVER_LIFETIME_SECS: String(settings.certificateLifetime)
})

export const ofControlPlane = (
  settings: UpSettings,
  folder: StackFolder,
  secrets: Secrets,
  databaseUrl: Redacted.Redacted
): Environment => ({
  CT_CONTROL_PLANE_LISTEN: address(settings.controlPlane),
  // The edge says who the visitor is; else all visitors of the portal would share the budget of the edge's address.
  CT_CP_TRUSTED_PROXIES: ownAddresses(settings.controlPlane),
  CT_CP_DATABASE_URL: Redacted.value(databaseUrl),
  CT_CP_SEAL_KEY: secrets.sealKey,
  CT_CP_EDGE_ADMIN_URL: url(settings.edgeAdmin),
  CT_CP_EDGE_ADMIN_TOKEN: secrets.edgeAdminToken,
  CT_CP_EDGE_METRICS_URL: `${url(settings.edgeMetrics)}/metrics`,
  CT_CP_EDGE_CERT_PATH: folder.edgeRoot,
  CT_CP_ALERTS_LOOPBACK: "1",
  CT_CP_OPERATORS: demoUser.email,
  CT_BRIDGE_HOLDER_KEY: secrets.bridgeHolderKey,
  CT_BRIDGE_NOISE_KEY: secrets.bridgeNoiseKey,
  CT_CHANNEL_FRONT_DOOR: address(settings.frontDoor),
  CT_CP_MESH_EDGE_PORT: String(settings.mesh.port),
  CT_EDGE_ID: edgeId,
  CT_CP_HOSTNAME_ZONE: "localhost",
  CT_CP_RESERVED_HOSTNAMES: reservedHosts.join(","),
  CT_CP_RELEASES_DIR: AgentReleases.folderOf(folder),
  CT_CP_RELEASE_PUBKEY: AgentReleases.publicKeyOf(secrets.releaseSeed),
  CT_GATE_COOKIE_DOMAIN: "localhost",
  CT_GATE_HOSTS_PORT: String(settings.frontDoor.port),
  CT_GATE_CLIENT_ID: "catenet-gate",
  CT_GATE_CLIENT_SECRET: secrets.gateClientSecret,
  CT_GATE_ACCESS_AUD: "catenet-gate",
  CT_CP_ACME_BROKER_ENABLED: "1",
  CT_CP_ACME_BROKER_TICK_SECS: "2",
  CT_CP_ACME_CAS: authorities(settings),
  CT_CP_ACME_EAB_DEVELOPMENTBOUND_KID: boundAccount,
  CT_CP_ACME_EAB_DEVELOPMENTBOUND_HMAC: secrets.acmeBindingKey,
  CT_PORTAL_BASE_URL: portalUrl(settings),
  CT_CP_AGENTS_URL: url(settings.controlPlane),
  CT_OIDC_ISSUER: issuer(settings),
  CT_OIDC_REALM: realm,
  CT_OIDC_CLIENT_ID: "catenet-portal",
  CT_OIDC_CLIENT_SECRET: secrets.portalClientSecret,
  CT_OIDC_REDIRECT_URI: `${portalUrl(settings)}/portal/callback`,
  CT_OIDC_ACCESS_AUD: "catenet",
  KEYCLOAK_PUBLIC_URL: `http://localhost:${settings.identityProvider.port}`,
  CT_OIDC_ADMIN_CLIENT_ID: "catenet-manager",
  CT_OIDC_ADMIN_CLIENT_SECRET: secrets.managerClientSecret
})

export const ofEdge = (settings: UpSettings, folder: StackFolder, secrets: Secrets): Environment => ({
  CT_EDGE_ID: edgeId,
  CT_EDGE_LISTEN: address(settings.mesh),
  CT_FRONT_DOOR: address(settings.frontDoor),
  CT_EDGE_ADMIN_LISTEN: address(settings.edgeAdmin),
  CT_EDGE_METRICS_LISTEN: address(settings.edgeMetrics),
  CT_EDGE_ADMIN_TOKEN: secrets.edgeAdminToken,
  CT_EDGE_CP_URL: url(settings.controlPlane),
  CT_EDGE_PUBLIC_ADDR: address(settings.mesh),
  CT_EDGE_CERT_OUT: folder.edgeRoot,
  CT_EDGE_RECEIPTS: "1",
  CT_EDGE_WILDCARD_CERT: folder.wildcardCertificate,
  CT_EDGE_WILDCARD_KEY: folder.wildcardKey,
  CT_EDGE_PORTAL_HOST: portalHost,
  CT_CP_PROXY_ADDR: address(settings.controlPlane),
  CT_EDGE_PORTAL_PROXY_PROTOCOL: "1",
  CT_EDGE_PORTAL_CERT: folder.wildcardCertificate,
  CT_EDGE_PORTAL_KEY: folder.wildcardKey
})

/** What every agent of this stack needs beside its tunnel's own variables. */
export const ofAgent = (
  settings: UpSettings,
  { developmentRoot }: StackFolder,
  state: string,
  hostname: string
): Environment => ({
  CT_AGENT_CP_URL: url(settings.controlPlane),
  CT_AGENT_HOSTNAME: hostname,
  CT_AGENT_MODE: "browser",
  // Plain text while the edge ends TLS; with its own certificate the agent does, and the edge cannot read a byte.
  CT_AGENT_ORIGIN_TLS: "terminate",
  CT_ACME_CERT_OUT_DIR: join(state, "certificate"),
  CT_ACME_CA_FILE: developmentRoot,
  CT_AGENT_STATE_DIR: state,
  CT_AGENT_EDGE_CERT: join(state, "edge-cert.der")
})
