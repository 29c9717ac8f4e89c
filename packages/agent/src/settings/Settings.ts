/** The settings of an agent that serves a tunnel. All problems are reported, not only the first. */
import type { Rules } from "@catenet/domain/rules/Rules"
import * as Problems from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { type ConfigProvider, Effect } from "effect"
import * as CustomCa from "./CustomCa.ts"
import * as EnvironmentFile from "./EnvironmentFile.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as McpVariables from "./McpVariables.ts"
import { formatOrigin } from "./OriginAddress.ts"
import * as TunnelTransports from "./TunnelTransports.ts"
import * as TunnelVariables from "./TunnelVariables.ts"
import * as UpdateVariables from "./UpdateVariables.ts"
import { credential, names } from "./Variables.ts"

/** Default location of a mesh tunnel's capability. */
export const standardCapability = "/shared/capability.bin"

const variables = { ...TunnelVariables.variables, ...UpdateVariables.variables, ...credential }
type Variables = typeof variables
type Values = VariableReader.Values<Variables>

/** The file of the variable, or the one of this name in the folder of certificates. */
const fileOf = (named: string | undefined, folder: string | undefined, standard: string) =>
  named ?? (folder === undefined ? undefined : `${folder.replace(/\/+$/, "")}/${standard}`)

const pairOf = ({ certificate, certificateFolder, key }: VariableReader.PartialValues<Variables>) => ({
  certificate: fileOf(certificate, certificateFolder, "fullchain.pem"),
  key: fileOf(key, certificateFolder, "privkey.pem")
})

const unsetOne = "unset one of the two"

const schemeOf = (origin: string) => /^(?:https|h2c):\/\/|^(?:unix|file|mcp):/u.exec(origin)?.[0]

/** Rules across the variables. */
const rules = (values: VariableReader.PartialValues<Variables>): ReadonlyArray<Problems.Problem> => {
  const { cardFile, healthPath, hostname, mode, origin, originCa, originInsecure, originListing } = values
  const { protocol, proxyProtocol, tls, trustedProxies } = values
  const { certificate, key } = pairOf(values)
  const scheme = origin === undefined ? undefined : schemeOf(formatOrigin(origin))
  const isBrowser = mode === "browser"
  const terminates = tls === "terminate"
  return Problems.all(
    isBrowser &&
      hostname === undefined &&
      Problems.unset("CT_AGENT_HOSTNAME", "set it to the host name of the tunnel that the portal shows"),
    isBrowser &&
      protocol === "udp" &&
      Problems.problem("CT_AGENT_ORIGIN_PROTO=udp", "does not work with CT_AGENT_MODE=browser", unsetOne),
    scheme !== undefined &&
      (protocol === "udp" || (!isBrowser && scheme !== "unix:")) &&
      Problems.problem(
        `${scheme} in CT_AGENT_ORIGIN`,
        scheme === "unix:" ? "does not work with CT_AGENT_ORIGIN_PROTO=udp" : "works with CT_AGENT_MODE=browser only",
        `set the mode and unset CT_AGENT_ORIGIN_PROTO, or remove ${scheme}`
      ),
    (scheme === "h2c://" || scheme === "file:" || scheme === "mcp:") &&
      proxyProtocol === "v2" &&
      Problems.problem(
        `${scheme} in CT_AGENT_ORIGIN`,
        "does not work with CT_AGENT_ORIGIN_PROXY_PROTOCOL=v2",
        unsetOne
      ),
    originCa !== undefined &&
      scheme !== "https://" &&
      Problems.problem(
        "CT_AGENT_ORIGIN_CA",
        "needs https:// in CT_AGENT_ORIGIN",
        "set it, or unset CT_AGENT_ORIGIN_CA"
      ),
    originInsecure === true &&
      scheme !== "https://" &&
      Problems.problem(
        "CT_AGENT_ORIGIN_INSECURE",
        "needs https:// in CT_AGENT_ORIGIN",
        "set it, or unset CT_AGENT_ORIGIN_INSECURE"
      ),
    originInsecure === true &&
      originCa !== undefined &&
      Problems.problem("CT_AGENT_ORIGIN_INSECURE", "does not work with CT_AGENT_ORIGIN_CA", unsetOne),
    originListing === true &&
      scheme !== "file:" &&
      Problems.problem(
        "CT_AGENT_ORIGIN_LISTING",
        "needs file: in CT_AGENT_ORIGIN",
        "set it, or unset CT_AGENT_ORIGIN_LISTING"
      ),
    healthPath !== undefined &&
      protocol === "udp" &&
      Problems.problem("CT_AGENT_HEALTH_PATH", "does not work with CT_AGENT_ORIGIN_PROTO=udp", unsetOne),
    cardFile !== undefined &&
      tls === "passthrough" &&
      Problems.problem(
        "CT_AGENT_CARD_FILE",
        "needs CT_AGENT_ORIGIN_TLS=terminate",
        "set it, or unset CT_AGENT_CARD_FILE and let the origin answer"
      ),
    trustedProxies !== undefined &&
      tls === "passthrough" &&
      Problems.problem(
        "CT_AGENT_TRUSTED_PROXIES",
        "needs CT_AGENT_ORIGIN_TLS=terminate",
        "set it, or unset CT_AGENT_TRUSTED_PROXIES and let the origin read the fields"
      ),
    !isBrowser &&
      terminates &&
      Problems.problem(
        "CT_AGENT_ORIGIN_TLS=terminate",
        "needs CT_AGENT_MODE=browser",
        "set it, or unset CT_AGENT_ORIGIN_TLS"
      ),
    terminates &&
      certificate === undefined &&
      Problems.unset("CT_AGENT_TLS_CERT", "set it, or CT_ACME_CERT_OUT_DIR, to say where the certificate chain is"),
    terminates &&
      key === undefined &&
      Problems.unset("CT_AGENT_TLS_KEY", "set it, or CT_ACME_CERT_OUT_DIR, to say where the private key is"),
    McpVariables.rules(values, scheme === "mcp:"),
    CustomCa.rules(values),
    TunnelTransports.rules(values)
  )
}

const switches = {
  CT_AGENT_FALLBACK_443: ({ fallback443 }: Values) => fallback443,
  CT_AGENT_REGISTER_TCP_ONLY: ({ tcpOnly }: Values) => tcpOnly,
  CT_AGENT_FRAMED_FALLBACK: ({ framed }: Values) => framed
}

const warningsOf = (values: Values): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  if (values.mode !== "browser" && values.hostname !== undefined)
    warnings.push(
      `CT_AGENT_HOSTNAME has no effect in ${values.mode} mode. Set CT_AGENT_MODE=browser to serve that name to browsers.`
    )
  if (values.mode !== "mesh" && values.directAdvertise !== undefined)
    warnings.push(`CT_AGENT_DIRECT_ADVERTISE has no effect in ${values.mode} mode. Unset it, or unset CT_AGENT_MODE.`)
  if (values.directory !== undefined && values.certificateFolder === undefined)
    warnings.push("CT_ACME_DIRECTORY_URL has no effect without CT_ACME_CERT_OUT_DIR. Set both, or neither.")
  const scheme = schemeOf(formatOrigin(values.origin)) ?? ""
  const needsTerminate = [
    ...(["h2c://", "file:", "mcp:"].includes(scheme) ? [`${scheme} in CT_AGENT_ORIGIN`] : []),
    ...(values.hostHeader === "keep" ? [] : ["CT_AGENT_ORIGIN_HOST_HEADER"])
  ]
  if (values.tls === "passthrough" && values.certificateFolder !== undefined)
    for (const what of needsTerminate)
      warnings.push(`${what} needs CT_AGENT_ORIGIN_TLS=terminate once the name is end-to-end. Set it.`)
  if (values.mode !== "browser" && values.hostHeader !== "keep")
    warnings.push(`CT_AGENT_ORIGIN_HOST_HEADER has no effect in ${values.mode} mode. Set CT_AGENT_MODE=browser.`)
  if (values.originInsecure)
    warnings.push(
      `CT_AGENT_ORIGIN_INSECURE: the agent accepts any certificate of ${formatOrigin(values.origin)}, so whoever is between ` +
        "them can read and change everything. Name the service's authority with CT_AGENT_ORIGIN_CA instead."
    )
  for (const [name, of] of Object.entries(switches)) {
    const text = of(values)?.text.toLowerCase() ?? ""
    if (["no", "off", "none", "disabled"].includes(text))
      warnings.push(`${name}=${text} means yes: only 0, false and nothing mean no.`)
  }
  return warnings
}

const originOf = (values: Values) => {
  const { certificate, key } = pairOf(values)
  return {
    place: values.origin,
    /** A file in PEM; undefined for the authorities of the system. */
    ca: values.originCa,
    insecure: values.originInsecure,
    /** Shows what is in a folder without an index.html. */
    listing: values.originListing,
    /** `keep`, `origin` or a name; a visitor's own name says nothing to other protocols. */
    hostHeader: values.mode === "browser" ? values.hostHeader : "keep",
    protocol: values.protocol,
    proxyProtocol: values.proxyProtocol,
    ...(values.trustedProxies === undefined ? {} : { trustedProxies: values.trustedProxies }),
    healthPath: values.healthPath,
    ...(values.origin._tag === "Mcp" ? { mcp: McpVariables.of(values) } : {}),
    /** Set when the agent terminates TLS: the files of the chain and the key. */
    terminate:
      values.tls === "terminate" && certificate !== undefined && key !== undefined
        ? { certificate, key, isAwaited: values.certificate === undefined && values.key === undefined }
        : undefined
  }
}
export type Origin = ReturnType<typeof originOf>

/** The certificate that the agent orders; undefined where it keeps none for its host name. */
const certificateOf = (values: Values) =>
  values.certificateFolder === undefined || values.mode !== "browser"
    ? undefined
    : {
        folder: values.certificateFolder,
        accountKey: values.accountKey,
        authorityRoots: values.authorityRoots,
        authority: CustomCa.of(values),
        reload: values.reload
      }
export type OwnCertificate = NonNullable<ReturnType<typeof certificateOf>>

const reconnectOf = (values: Values) => {
  const baseMillis = Math.max(100, values.reconnectBase)
  return {
    maxAttempts: values.reconnectAttempts || undefined,
    baseMillis,
    maxMillis: Math.max(baseMillis, values.reconnectMax)
  }
}
export type Reconnect = ReturnType<typeof reconnectOf>

const settingsOf = (values: Values) => {
  const { key: _key, reconnectAttempts: _reconnectAttempts, ...given } = values
  return {
    ...given,
    origin: originOf(values),
    edgeCertificate: {
      /** Base address of `/pki/ca`, when one was named. */
      url: values.edgeCertificateUrl,
      file: values.edgeCertificate ?? "/shared/edge-cert.der",
      fileNamed: values.edgeCertificate !== undefined,
      waitSecs: values.edgeCertificateWait,
      logIntervalSecs: Math.max(1, values.edgeCertificateLog)
    },
    fallback443: values.fallback443?.isOn ?? false,
    tcpOnly: values.tcpOnly?.isOn ?? false,
    framed: values.framed?.isOn ?? false,
    transports: TunnelTransports.of(values),
    reconnect: reconnectOf(values),
    stateDir: values.stateDir ?? TunnelVariables.standardStateDir,
    capabilityOut: values.capabilityOut ?? standardCapability,
    capabilityOutNamed: values.capabilityOut !== undefined,
    certificate: certificateOf(values),
    /** Set where this agent updates itself. */
    autoUpdate: UpdateVariables.autoUpdateOf(values, values.controlPlane),
    /** The token that /status knows of. */
    credential: LoginVariables.sourceOf(values),
    /** Sentences about values that are legal but probably not meant. */
    warnings: warningsOf(values)
  }
}

/** A route of a service with routes. */
export interface RouteSettings {
  /** An exact path, or with `*` at its end every path that begins so. */
  readonly path: string
  readonly stripPrefix: string | undefined
  readonly origins: ReadonlyArray<Origin>
  readonly health: { readonly path: string; readonly everyMillis: number } | undefined
}

/** The values of the variables, and what is made of several of them. */
export type Settings = ReturnType<typeof settingsOf> & {
  /** Of a service of a file, instead of its one origin. */
  readonly routes?: ReadonlyArray<RouteSettings>
  /** What the file or the flags demand, beside what the control plane says. */
  readonly rules?: Rules
}

/** The settings of a serving agent, from the environment and the file that `named` names. */
export const read = (named: string | undefined) => Effect.map(EnvironmentFile.read(named, variables, rules), settingsOf)

/** Those that are set. */
export type PartialValues = VariableReader.PartialValues<Variables>

/** The same for a start, which needs more; also warns about values without effect. */
export const readForStart = Effect.fn("Settings.readForStart")(function* (
  named: string | undefined,
  missing: (values: PartialValues) => ReadonlyArray<Problems.Problem>
) {
  const settings = yield* EnvironmentFile.read(named, variables, (values) => [...rules(values), ...missing(values)])
  yield* EnvironmentFile.warnUnread(named, variables)
  return settingsOf(settings)
})

/** The same from one provider alone. */
export const readFrom = (source: ConfigProvider.ConfigProvider) =>
  Effect.map(VariableReader.read(variables, { sources: [source], known: names, rules }), settingsOf)
