/** What the orders of this agent need, from its settings; read before the network is asked for anything. */
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { Hostname } from "@catenet/domain/values/Hostname"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, FileSystem, Redacted, Schema } from "effect"
import { X509Certificate } from "node:crypto"
import * as TokenSuccession from "../onboard/TokenSuccession.ts"
import type { OwnCertificate } from "../settings/Settings.ts"
import type { Options } from "./Certificates.ts"

const unusable = (path: string) =>
  ConfigurationInvalid.of(`CT_ACME_CA_FILE: ${path}`, "holds no certificate that can be read", "it must be PEM")

/** The roots of CT_ACME_CA_FILE, PEM. */
export const roots = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const pem = yield* Effect.mapError(fs.readFileString(path), () => unusable(path))
  yield* Effect.try({ try: () => new X509Certificate(pem), catch: () => unusable(path) })
  return pem
})

const readHostname = Schema.decodeEffect(Hostname)
const readToken = Schema.decodeSync(RoutingToken)

/** Where its files are. */
export const placesOf = ({ accountKey, folder }: OwnCertificate) => {
  const path = folder.replace(/(?<=.)\/+$/, "")
  return { folder: path, accountKey: accountKey ?? `${path}/acme-account-key.der` }
}

export const of = Effect.fn("CertificateOptions.of")(function* (
  certificate: OwnCertificate,
  tunnel: {
    /** Hex. */
    readonly token: Redacted.Redacted
    readonly hostname: string
    readonly stateDir: string
    readonly methods: Options["methods"]
  }
): Effect.fn.Return<Options, ConfigurationInvalid, FileSystem.FileSystem> {
  const { authority, authorityRoots, reload } = certificate
  const hostname = yield* Effect.mapError(readHostname(tunnel.hostname), () =>
    ConfigurationInvalid.of("CT_AGENT_HOSTNAME", "is not a host name that can have a certificate", "correct it")
  )
  const given = yield* Effect.mapError(Effect.fromResult(TokenEncoding.fromHexText(Redacted.value(tunnel.token))), () =>
    ConfigurationInvalid.of("CT_AGENT_TOKEN", "is not a routing token", "copy it again from the install page")
  )
  const token = readToken(Redacted.value(TokenEncoding.hexText(yield* TokenSuccession.current(tunnel.stateDir, given))))
  return {
    hostname,
    token,
    places: placesOf(certificate),
    stateDir: tunnel.stateDir,
    // The control plane publishes proofs for the authorities that it assigns.
    methods: authority === undefined ? tunnel.methods : ["tls-alpn-01"],
    authority,
    roots: authorityRoots === undefined ? undefined : yield* roots(authorityRoots),
    reload
  }
})
