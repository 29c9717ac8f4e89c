/** The settings of an agent that serves a tunnel. All problems are reported, not only the first. */
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { type ConfigProvider, Effect, FileSystem, type Redacted } from "effect"
import * as CustomCa from "./CustomCa.ts"
import * as EnvironmentFile from "./EnvironmentFile.ts"
import type { HostPort } from "./HostPort.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as TunnelTransports from "./TunnelTransports.ts"
import * as TunnelVariables from "./TunnelVariables.ts"
import * as UpdateVariables from "./UpdateVariables.ts"
import { credential, names } from "./Variables.ts"

/** Default location of a mesh tunnel's capability. */
export const standardCapability = "/shared/capability.bin"

export interface Origin extends HostPort {
  readonly protocol: "tcp" | "udp"
  readonly proxyProtocol: "none" | "v2"
  /** The HTTP request that checks whether the origin is up. */
  readonly healthPath: string | undefined
  /** Set when the agent terminates TLS: the files of the chain and the key. */
  readonly terminate: { readonly certificate: string; readonly key: string; readonly isAwaited: boolean } | undefined
}

export interface EdgeCertificate {
  /** Base address of `/pki/ca`, when one was named. */
  readonly url: string | undefined
  readonly file: string
  /** Whether the file was named, and not only defaulted. */
  readonly fileNamed: boolean
  readonly waitSecs: number | undefined
  readonly logIntervalSecs: number
}

/** The certificate that the agent orders. */
export interface OwnCertificate {
  readonly folder: string
  readonly accountKey: string | undefined
  readonly authorityRoots: string | undefined
  readonly authority: CustomCa.CustomCa | undefined
  readonly reload: string | undefined
}

export interface Reconnect {
  readonly maxAttempts: number | undefined
  readonly baseMillis: number
  readonly maxMillis: number
}

export interface Settings {
  readonly controlPlane: string
  readonly joinToken: Redacted.Redacted | undefined
  readonly bootstrap: Redacted.Redacted | undefined
  readonly token: Redacted.Redacted | undefined
  readonly agentId: string | undefined
  readonly onboardTimeoutSecs: number | undefined
  readonly hostname: string | undefined
  readonly mode: "browser" | "mesh"
  readonly origin: Origin
  /** Answers the well-known path of an agent's card, in the origin's place. */
  readonly cardFile: string | undefined
  readonly edge: HostPort | undefined
  readonly edgeCertificate: EdgeCertificate
  readonly fallback443: boolean
  /** The transports for visitors, in order. */
  readonly transports: ReadonlyArray<TunnelTransports.Carrier>
  /** Prefers the framed relay if it does not multiplex. */
  readonly framed: boolean
  readonly poolSize: number
  readonly maxServing: number
  readonly directAdvertise: string | undefined
  /** TCP port of the direct path; 0 for any free one. */
  readonly directPort: number
  readonly reconnect: Reconnect
  readonly stateDir: string
  readonly capabilityOut: string
  /** Whether that file was named, and not only defaulted. */
  readonly capabilityOutNamed: boolean
  readonly originKey: string | undefined
  readonly originKeyDir: string | undefined
  readonly metricsListen: HostPort | undefined
  /** Set where this agent is to keep its host name's certificate. */
  readonly certificate: OwnCertificate | undefined
  /** Set where this agent updates itself. */
  readonly autoUpdate: UpdateVariables.AutoUpdate | undefined
  /** The token that /status knows of. */
  readonly credential: LoginVariables.BearerSource
  /** Sentences about values that are legal but probably not meant. */
  readonly warnings: ReadonlyArray<string>
}

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

const unset = (variable: string, remedy: string): Problem => ({ variable, problem: "is not set", remedy })

/** Rules across the variables. */
const rules = (values: VariableReader.PartialValues<Variables>): ReadonlyArray<Problem> => {
  const { cardFile, healthPath, hostname, mode, protocol, tls } = values
  const { certificate, key } = pairOf(values)
  const isBrowser = mode === "browser"
  const terminates = tls === "terminate"
  return [
    ...(isBrowser && hostname === undefined
      ? [unset("CT_AGENT_HOSTNAME", "set it to the host name of the tunnel that the portal shows")]
      : []),
    ...(isBrowser && protocol === "udp"
      ? [
          {
            variable: "CT_AGENT_ORIGIN_PROTO=udp",
            problem: "does not work with CT_AGENT_MODE=browser",
            remedy: "unset one of the two"
          }
        ]
      : []),
    ...(healthPath !== undefined && protocol === "udp"
      ? [
          {
            variable: "CT_AGENT_HEALTH_PATH",
            problem: "does not work with CT_AGENT_ORIGIN_PROTO=udp",
            remedy: "unset one of the two"
          }
        ]
      : []),
    ...(cardFile !== undefined && tls === "passthrough"
      ? [
          {
            variable: "CT_AGENT_CARD_FILE",
            problem: "needs CT_AGENT_ORIGIN_TLS=terminate",
            remedy: "set it, or unset CT_AGENT_CARD_FILE and let the origin answer"
          }
        ]
      : []),
    ...(mode === "mesh" && terminates
      ? [
          {
            variable: "CT_AGENT_ORIGIN_TLS=terminate",
            problem: "needs CT_AGENT_MODE=browser",
            remedy: "set it, or unset CT_AGENT_ORIGIN_TLS"
          }
        ]
      : []),
    ...(terminates && certificate === undefined
      ? [unset("CT_AGENT_TLS_CERT", "set it, or CT_ACME_CERT_OUT_DIR, to say where the certificate chain is")]
      : []),
    ...(terminates && key === undefined
      ? [unset("CT_AGENT_TLS_KEY", "set it, or CT_ACME_CERT_OUT_DIR, to say where the private key is")]
      : []),
    ...CustomCa.rules(values),
    ...TunnelTransports.rules(values)
  ]
}

const switches = {
  CT_AGENT_FALLBACK_443: ({ fallback443 }: Values) => fallback443,
  CT_AGENT_REGISTER_TCP_ONLY: ({ tcpOnly }: Values) => tcpOnly,
  CT_AGENT_FRAMED_FALLBACK: ({ framed }: Values) => framed
}

const warningsOf = (values: Values): ReadonlyArray<string> => {
  const warnings: Array<string> = []
  if (values.mode === "mesh" && values.hostname !== undefined)
    warnings.push(
      "CT_AGENT_HOSTNAME has no effect in mesh mode. Set CT_AGENT_MODE=browser to serve that name to browsers."
    )
  if (values.mode === "browser" && values.directAdvertise !== undefined)
    warnings.push("CT_AGENT_DIRECT_ADVERTISE has no effect in browser mode. Unset it, or unset CT_AGENT_MODE.")
  if (values.directory !== undefined && values.certificateFolder === undefined)
    warnings.push("CT_ACME_DIRECTORY_URL has no effect without CT_ACME_CERT_OUT_DIR. Set both, or neither.")
  for (const [name, of] of Object.entries(switches)) {
    const text = of(values)?.text.toLowerCase() ?? ""
    if (["no", "off", "none", "disabled"].includes(text))
      warnings.push(`${name}=${text} means yes: only 0, false and nothing mean no.`)
  }
  return warnings
}

const settingsOf = (values: Values): Settings => {
  const { certificate, key } = pairOf(values)
  const baseMillis = Math.max(100, values.reconnectBase)
  return {
    controlPlane: values.controlPlane,
    joinToken: values.joinToken,
    bootstrap: values.bootstrap,
    token: values.token,
    agentId: values.agentId,
    onboardTimeoutSecs: values.onboardTimeoutSecs,
    hostname: values.hostname,
    mode: values.mode,
    origin: {
      ...values.origin,
      protocol: values.protocol,
      proxyProtocol: values.proxyProtocol,
      healthPath: values.healthPath,
      terminate:
        values.tls === "terminate" && certificate !== undefined && key !== undefined
          ? { certificate, key, isAwaited: values.certificate === undefined && values.key === undefined }
          : undefined
    },
    cardFile: values.cardFile,
    edge: values.edge,
    edgeCertificate: {
      url: values.edgeCertificateUrl,
      file: values.edgeCertificate ?? "/shared/edge-cert.der",
      fileNamed: values.edgeCertificate !== undefined,
      waitSecs: values.edgeCertificateWait,
      logIntervalSecs: Math.max(1, values.edgeCertificateLog)
    },
    fallback443: values.fallback443?.isOn ?? false,
    transports: TunnelTransports.of(values),
    framed: values.framed?.isOn ?? false,
    poolSize: values.poolSize,
    maxServing: values.maxServing,
    directAdvertise: values.directAdvertise,
    directPort: values.directPort,
    reconnect: {
      maxAttempts: values.reconnectAttempts || undefined,
      baseMillis,
      maxMillis: Math.max(baseMillis, values.reconnectMax)
    },
    stateDir: values.stateDir ?? TunnelVariables.standardStateDir,
    capabilityOut: values.capabilityOut ?? standardCapability,
    capabilityOutNamed: values.capabilityOut !== undefined,
    originKey: values.originKey,
    originKeyDir: values.originKeyDir,
    metricsListen: values.metricsListen,
    certificate:
      values.certificateFolder === undefined || values.mode !== "browser"
        ? undefined
        : {
            folder: values.certificateFolder,
            accountKey: values.accountKey,
            authorityRoots: values.authorityRoots,
            authority: CustomCa.of(values),
            reload: values.reload
          },
    autoUpdate: UpdateVariables.autoUpdateOf(values, values.controlPlane),
    credential: LoginVariables.sourceOf(values),
    warnings: warningsOf(values)
  }
}

/** The settings of a serving agent, from the environment and the file that `named` names. */
export const read = (named: string | undefined) => Effect.map(EnvironmentFile.read(named, variables, rules), settingsOf)

/** What onboarding will need, unless an earlier start has stored it: reported with all other missing values. */
const missingTokens = Effect.fnUntraced(function* (named: string | undefined, mustEnroll: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { CT_AGENT_STATE_DIR: folder = TunnelVariables.standardStateDir } = yield* EnvironmentFile.texts(named, [
    "CT_AGENT_STATE_DIR"
  ])
  const isThere = (name: string) => Effect.orElseSucceed(fs.exists(`${folder}/${name}`), () => true)
  const hasSecret = yield* isThere("bootstrap.secret")
  const isEnrolled = yield* isThere("tenant")
  return ({ bootstrap, joinToken, mode, token }: VariableReader.PartialValues<Variables>): ReadonlyArray<Problem> =>
    hasSecret || bootstrap !== undefined
      ? []
      : [
          ...(mustEnroll && !isEnrolled && joinToken === undefined
            ? [
                unset(
                  "CT_AGENT_JOIN_TOKEN",
                  "copy the join token from the install page of the tunnel, or set CT_BOOTSTRAP"
                )
              ]
            : []),
          ...(mode === "browser" && token === undefined
            ? [unset("CT_AGENT_TOKEN", "copy the routing token of the tunnel from the portal, or set CT_BOOTSTRAP")]
            : [])
        ]
})

/** The same for a start, which needs more; also warns about values without effect. */
export const readForStart = Effect.fn("Settings.readForStart")(function* (
  named: string | undefined,
  mustEnroll: boolean
) {
  const missing = yield* missingTokens(named, mustEnroll)
  const settings = yield* EnvironmentFile.read(named, variables, (values) => [...rules(values), ...missing(values)])
  yield* EnvironmentFile.warnUnread(named, variables)
  return settingsOf(settings)
})

/** The same from one provider alone. */
export const readFrom = (source: ConfigProvider.ConfigProvider) =>
  Effect.map(VariableReader.read(variables, { sources: [source], known: names, rules }), settingsOf)
