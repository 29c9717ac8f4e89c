/**
 * What the agent was told, read once and typed. Parsing is a pure function of the raw variables: it collects every problem
 * instead of stopping at the first, touches no file and asks no network.
 */
import { normalHost } from "@catenet/wire/frames/HostName"
import { type Redacted, Result } from "effect"
import * as Parse from "./Parse.ts"
import type { Raw, Variable } from "./Variables.ts"

/** Where the agent keeps its state when CT_AGENT_STATE_DIR is not set. */
export const standardStateDir = ".ct-agent-state"

/** Where the capability of a mesh tunnel is written when CT_AGENT_CAPABILITY_OUT is not set. */
export const standardCapability = "/shared/capability.bin"

export interface Origin extends Parse.HostPort {
  readonly protocol: "tcp" | "udp"
  readonly proxyProtocol: "none" | "v2"
  /** Set when the agent terminates TLS: the files of the chain and the key. */
  readonly terminate: { readonly certificate: string; readonly key: string } | undefined
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
  readonly edge: Parse.HostPort | undefined
  readonly edgeCertificate: EdgeCertificate
  readonly fallback443: boolean
  /** Never multiplexes: every client gets a connection of its own. */
  readonly tcpOnly: boolean
  /** Prefers the framed relay where it does not multiplex. */
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
  readonly metricsListen: Parse.HostPort | undefined
  /** Sentences about values that are legal but probably not meant. */
  readonly warnings: ReadonlyArray<string>
}

const hostname = (raw: Raw): Parse.Parsed<string | undefined> => {
  const written = Parse.text(raw, "CT_AGENT_HOSTNAME")
  const name = written === undefined ? undefined : normalHost(written)
  return written === undefined || name !== undefined
    ? Result.succeed(name)
    : Result.fail(
        "CT_AGENT_HOSTNAME is not a host name. Copy the name of the tunnel from the portal, without https:// and path."
      )
}

const certificateFile = (raw: Raw, name: Variable, standard: string) => {
  const folder = Parse.text(raw, "CT_ACME_CERT_OUT_DIR")
  return Parse.text(raw, name) ?? (folder === undefined ? undefined : `${folder.replace(/\/+$/, "")}/${standard}`)
}

const warningsOf = (raw: Raw, mode: "browser" | "mesh") => {
  const warnings: Array<string> = []
  if (mode === "mesh" && Parse.text(raw, "CT_AGENT_HOSTNAME") !== undefined)
    warnings.push(
      "CT_AGENT_HOSTNAME has no effect in mesh mode. Set CT_AGENT_MODE=browser to serve that name to browsers."
    )
  if (mode === "browser" && Parse.text(raw, "CT_AGENT_DIRECT_ADVERTISE") !== undefined)
    warnings.push("CT_AGENT_DIRECT_ADVERTISE has no effect in browser mode. Unset it, or unset CT_AGENT_MODE.")
  for (const name of ["CT_AGENT_FALLBACK_443", "CT_AGENT_REGISTER_TCP_ONLY", "CT_AGENT_FRAMED_FALLBACK"] as const) {
    const flag = Parse.text(raw, name)?.toLowerCase()
    if (flag !== undefined && ["no", "off", "none", "disabled"].includes(flag))
      warnings.push(`${name}=${flag} means yes: only 0, false and nothing mean no.`)
  }
  return warnings
}

/** The settings of a serving agent, or every problem as a sentence of its own. */
export const parse = (raw: Raw): Result.Result<Settings, ReadonlyArray<string>> => {
  const problems: Array<string> = []
  const ask = <A>(parsed: Parse.Parsed<A>, otherwise: A): A =>
    Result.match(parsed, {
      onSuccess: (value) => value,
      onFailure: (problem) => {
        problems.push(problem)
        return otherwise
      }
    })
  const controlPlane = ask(Parse.baseUrl(raw, "CT_AGENT_CP_URL"), undefined)
  const mode = ask(
    Parse.word(raw, "CT_AGENT_MODE", { words: ["browser", "mesh"], unset: "mesh", blank: "mesh" }),
    "mesh"
  )
  const protocol = ask(
    Parse.word(raw, "CT_AGENT_ORIGIN_PROTO", { words: ["tcp", "udp"], unset: "tcp", blank: undefined }),
    "tcp"
  )
  const tls = ask(
    Parse.word(raw, "CT_AGENT_ORIGIN_TLS", {
      words: ["passthrough", "terminate"],
      unset: "passthrough",
      blank: "passthrough"
    }),
    "passthrough"
  )
  const proxyProtocol = ask(
    Parse.word(raw, "CT_AGENT_ORIGIN_PROXY_PROTOCOL", { words: ["none", "v2"], unset: "none", blank: "none" }),
    "none"
  )
  const certificate = certificateFile(raw, "CT_AGENT_TLS_CERT", "fullchain.pem")
  const key = certificateFile(raw, "CT_AGENT_TLS_KEY", "privkey.pem")
  const name = ask(hostname(raw), "")
  const address = ask(Parse.hostPort(raw, "CT_AGENT_ORIGIN"), undefined) ?? { host: "127.0.0.1", port: 8080 }
  const baseMillis = Math.max(100, Parse.lenient(raw, "CT_AGENT_RECONNECT_BASE_MS") ?? 500)
  const settings = {
    joinToken: ask(Parse.secret32(raw, "CT_AGENT_JOIN_TOKEN"), undefined),
    bootstrap: Parse.secret(raw, "CT_BOOTSTRAP"),
    token: ask(Parse.secret32(raw, "CT_AGENT_TOKEN"), undefined),
    agentId: Parse.text(raw, "CT_AGENT_ID"),
    onboardTimeoutSecs: Parse.lenient(raw, "CT_AGENT_ONBOARD_TIMEOUT_SECS"),
    hostname: name,
    mode,
    origin: {
      ...address,
      protocol,
      proxyProtocol,
      terminate:
        tls === "terminate" && certificate !== undefined && key !== undefined ? { certificate, key } : undefined
    },
    edge: ask(Parse.hostPort(raw, "CT_AGENT_EDGE"), undefined),
    edgeCertificate: {
      url: ask(Parse.baseUrl(raw, "CT_AGENT_EDGE_CERT_URL"), undefined),
      file: Parse.text(raw, "CT_AGENT_EDGE_CERT") ?? "/shared/edge-cert.der",
      fileNamed: Parse.text(raw, "CT_AGENT_EDGE_CERT") !== undefined,
      waitSecs: Parse.lenient(raw, "CT_AGENT_EDGE_CERT_WAIT_SECS"),
      logIntervalSecs: Math.max(1, Parse.lenient(raw, "CT_AGENT_EDGE_CERT_LOG_INTERVAL_SECS") ?? 5)
    },
    fallback443: Parse.unlessFalse(raw, "CT_AGENT_FALLBACK_443"),
    tcpOnly: Parse.unlessFalse(raw, "CT_AGENT_REGISTER_TCP_ONLY"),
    framed: Parse.unlessFalse(raw, "CT_AGENT_FRAMED_FALLBACK"),
    poolSize: ask(Parse.positive(raw, "CT_AGENT_TCP_FALLBACK_POOL_SIZE", 6), 6),
    maxServing: ask(Parse.positive(raw, "CT_AGENT_TCP_FALLBACK_MAX_SERVING", 32), 32),
    directAdvertise: ask(Parse.ip(raw, "CT_AGENT_DIRECT_ADVERTISE"), undefined),
    directPort: ask(Parse.port(raw, "CT_AGENT_DIRECT_PORT"), undefined) ?? 0,
    reconnect: {
      maxAttempts: Parse.lenient(raw, "CT_AGENT_RECONNECT_MAX_ATTEMPTS") || undefined,
      baseMillis,
      maxMillis: Math.max(baseMillis, Parse.lenient(raw, "CT_AGENT_RECONNECT_MAX_MS") ?? 30_000)
    },
    stateDir: Parse.text(raw, "CT_AGENT_STATE_DIR") ?? standardStateDir,
    capabilityOut: Parse.text(raw, "CT_AGENT_CAPABILITY_OUT") ?? standardCapability,
    capabilityOutNamed: Parse.text(raw, "CT_AGENT_CAPABILITY_OUT") !== undefined,
    originKey: Parse.text(raw, "CT_AGENT_ORIGIN_KEY"),
    originKeyDir: Parse.text(raw, "CT_AGENT_ORIGIN_KEY_DIR"),
    metricsListen: ask(Parse.listenAddress(raw, "CT_AGENT_METRICS_LISTEN"), undefined),
    warnings: warningsOf(raw, mode)
  }
  if (Parse.text(raw, "CT_AGENT_CP_URL") === undefined)
    problems.push(
      "CT_AGENT_CP_URL is not set. Set it to the address of the control plane, like https://portal.example.org, or run ct-agent init."
    )
  if (mode === "browser" && name === undefined)
    problems.push("CT_AGENT_HOSTNAME is not set. Set it to the host name of the tunnel that the portal shows.")
  if (mode === "browser" && protocol === "udp")
    problems.push("CT_AGENT_ORIGIN_PROTO=udp does not work with CT_AGENT_MODE=browser. Unset one of the two.")
  if (mode === "mesh" && tls === "terminate")
    problems.push("CT_AGENT_ORIGIN_TLS=terminate needs CT_AGENT_MODE=browser. Set it, or unset CT_AGENT_ORIGIN_TLS.")
  if (tls === "terminate" && certificate === undefined)
    problems.push(
      "CT_AGENT_TLS_CERT is not set. Set it, or CT_ACME_CERT_OUT_DIR, to say where the certificate chain is."
    )
  if (tls === "terminate" && key === undefined)
    problems.push("CT_AGENT_TLS_KEY is not set. Set it, or CT_ACME_CERT_OUT_DIR, to say where the private key is.")
  if (settings.agentId !== undefined && (/\p{Cc}/u.test(settings.agentId) || Buffer.byteLength(settings.agentId) > 128))
    problems.push(
      "CT_AGENT_ID is not a name of at most 128 bytes in one line. Shorten it, or unset it to have one generated."
    )
  return problems.length === 0 && controlPlane !== undefined
    ? Result.succeed({ ...settings, controlPlane })
    : Result.fail(problems)
}
