/** `doctor`: checks everything a serving agent depends on, from the configuration outward, and suggests remedies. */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Fiber, Redacted, Result } from "effect"
import { X509Certificate } from "node:crypto"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as CertificateStatusCheck from "../doctor/CertificateStatusCheck.ts"
import * as DoctorCheck from "../doctor/DoctorCheck.ts"
import * as EdgeCheck from "../doctor/EdgeCheck.ts"
import * as NetworkChecks from "../doctor/NetworkChecks.ts"
import { Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as BootstrapSecret from "../onboard/BootstrapSecret.ts"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import * as Onboarding from "../onboard/Onboarding.ts"
import { OnboardingClient } from "../onboard/OnboardingClient.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import * as Settings from "../settings/Settings.ts"
import * as AgentIdentity from "../state/AgentIdentity.ts"
import { Screen } from "../terminal/Screen.ts"
import { remedyOf } from "../tunnel/BrowserClients.ts"
import * as CertificatePair from "../tunnel/CertificatePair.ts"
import * as OriginConnections from "../tunnel/OriginConnections.ts"

const portOf = ({ port, protocol }: URL) => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

const hostPortOf = (url: string): HostPort => {
  const parsed = new URL(url)
  return { host: parsed.hostname.replace(/^\[|\]$/g, ""), port: portOf(parsed) }
}

const controlPlane = (config: Settings.Settings) => {
  const address = hostPortOf(config.controlPlane)
  const fix = "Correct CT_AGENT_CP_URL, or check this machine's network."
  return Effect.all([
    DoctorCheck.run("control plane name", NetworkChecks.route(address, fix)),
    DoctorCheck.run("control plane port", Effect.as(NetworkChecks.reaches(address, fix), formatHostPort(address))),
    DoctorCheck.run(
      "control plane answers",
      OnboardingClient.use(({ meshPort }) => Effect.map(meshPort, (port) => `the edge's mesh port is ${port}`))
    )
  ])
}

const enrollment = (config: Settings.Settings) =>
  DoctorCheck.run(
    "enrollment",
    Effect.gen(function* () {
      const identity = yield* AgentIdentity.restore(config.stateDir)
      if (identity !== undefined) return `agent ${identity.agent} of tenant ${identity.tenant}`
      const have = config.joinToken !== undefined || config.bootstrap !== undefined
      return have
        ? "not enrolled yet; the next start enrolls"
        : "not enrolled, and no join token: serves without a proof"
    })
  )

const edge = Effect.fnUntraced(function* (config: Settings.Settings) {
  const found = yield* Effect.result(
    Effect.provide(
      ConnectionInfo.use((info) => Effect.all({ address: info.edge, ca: info.ca })),
      ConnectionInfo.layer({ ...config, edgeCertificate: { ...config.edgeCertificate, waitSecs: 0 } })
    )
  )
  if (Result.isFailure(found)) return [yield* DoctorCheck.run("edge's root certificate", Effect.fail(found.failure))]
  const { address, ca } = found.success
  const fix = "Correct CT_AGENT_EDGE, or open the port in the firewall; CT_AGENT_FALLBACK_443=1 tries port 443 too."
  const identity = yield* Effect.orElseSucceed(AgentIdentity.restore(config.stateDir), () => undefined)
  const kept = yield* Effect.orElseSucceed(BootstrapSecret.restore(config.stateDir), () => undefined)
  const own = config.token === undefined ? undefined : Redacted.make(Buffer.from(Redacted.value(config.token), "hex"))
  const given = own ?? kept?.routingToken
  const token = given && (yield* Onboarding.current(config.stateDir, given))
  const until = new X509Certificate(ca).validTo
  return [
    yield* DoctorCheck.run("edge's root certificate", Effect.succeed(`valid until ${until}`)),
    yield* DoctorCheck.run("edge name", NetworkChecks.route(address, fix)),
    yield* DoctorCheck.run("edge port", Effect.as(NetworkChecks.reaches(address, fix), formatHostPort(address))),
    yield* DoctorCheck.run("edge TLS", EdgeCheck.tls(address, ca)),
    yield* EdgeCheck.check(config.transports, address, ca),
    token === undefined
      ? DoctorCheck.skipped("token", "CT_AGENT_TOKEN is not set, and no bootstrap token has been redeemed")
      : yield* DoctorCheck.run(
          "token",
          Effect.map(
            EdgeCheck.token(address, ca, {
              token,
              host: config.mode === "browser" ? config.hostname : undefined,
              agentId: identity?.agent ?? config.agentId ?? "doctor",
              identity: identity?.seed,
              proxyProtocol: false
            }),
            (text) => text ?? "not asked: this edge has no way to ask without taking a visitor"
          )
        )
  ]
})

const nameMillis = 5000

const needless = (mode: Settings.Settings["mode"]) =>
  mode === "port" ? "a public port needs none" : "the mesh plane needs none"

/** Visitors need the name; the agent does not, and its machine may have another view of it. So this is advice. */
const publicName = Effect.fnUntraced(function* ({ hostname, mode }: Settings.Settings) {
  if (mode !== "browser" || hostname === undefined) return DoctorCheck.skipped("host name", needless(mode))
  const unknown = DoctorCheck.skipped(
    "host name",
    `${hostname} does not resolve on this machine. Visitors need a DNS record of it that leads to the edge.`
  )
  return yield* NetworkChecks.resolve(hostname.replace("*", "any"), "").pipe(
    Effect.timeout(nameMillis),
    Effect.matchEffect({
      onSuccess: (all) => DoctorCheck.run("host name", Effect.succeed(`${hostname} leads to ${all.join(", ")}`)),
      onFailure: () => Effect.succeed(unknown)
    })
  )
})

const origin = ({ origin }: Settings.Settings) =>
  origin.protocol === "udp"
    ? Effect.succeed(DoctorCheck.skipped("origin", "a UDP service does not say whether it is there"))
    : origin.place._tag === "Mcp"
      ? Effect.succeed(DoctorCheck.skipped("origin", "the agent starts the MCP server when a client calls"))
      : DoctorCheck.run(
          "origin",
          Effect.gen(function* () {
            const { connect, name } = yield* OriginConnections.open(origin)
            const socket = yield* connect()
            socket.destroy()
            return `${name} accepts connections`
          }).pipe(
            Effect.catchTag("OriginDown", (down) =>
              Effect.fail(new Unreachable({ detail: `${clause(down.message)}. ${remedyOf(down)}` }))
            ),
            Effect.scoped,
            Effect.provide(AgentMetrics.layer)
          )
        )

const judged = (where: string, certificate: X509Certificate, host: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Result.match(CertificateStatusCheck.judge(certificate, host, now), {
      onSuccess: (good) => Effect.succeed(`${where} ${good}`),
      onFailure: (wrong) => Effect.fail(ConfigurationInvalid.of(where, wrong))
    })
  )

const certificate = Effect.fnUntraced(function* (config: Settings.Settings, originAccepts: boolean) {
  const { hostname, mode, origin } = config
  if (mode !== "browser" || hostname === undefined) return DoctorCheck.skipped("certificate", needless(mode))
  const { terminate } = origin
  if (terminate !== undefined && (yield* CertificatePair.isMissing(terminate)))
    return DoctorCheck.skipped(
      "certificate",
      `${terminate.certificate} is not there yet: right before the first issuance`
    )
  if (terminate !== undefined)
    return yield* DoctorCheck.run(
      "certificate",
      Effect.flatMap(CertificatePair.load(terminate), ({ leaf }) =>
        judged(`CT_AGENT_TLS_CERT: ${terminate.certificate}`, leaf, hostname)
      )
    )
  if (!("host" in origin.place)) return DoctorCheck.skipped("certificate", "not asked: the origin speaks no TLS")
  if (!originAccepts) return DoctorCheck.skipped("certificate", "not asked: the origin does not answer")
  const shown = yield* NetworkChecks.certificate(origin.place, hostname)
  return shown === undefined
    ? DoctorCheck.skipped("certificate", "the origin speaks no TLS: right while the edge terminates (tier gelb)")
    : yield* DoctorCheck.run("certificate", judged("the origin's certificate", shown, hostname))
})

const mark = { ok: "ok     ", failed: "FAILED ", skipped: "-      " } as const

/** Shows every finding; fails with the first failure. */
export const doctor = Effect.gen(function* () {
  const screen = yield* Screen
  const shown: Array<DoctorCheck.Finding> = []
  let first: DoctorCheck.Checked["failure"]
  const show = ({ finding, failure }: DoctorCheck.Checked) => {
    first ??= failure
    shown.push(finding)
    if (!screen.json) screen.result(`${mark[finding.outcome]} ${finding.check.padEnd(24)} ${finding.detail}`)
  }
  const config = yield* Settings.read(yield* configFile)
  show(yield* DoctorCheck.run("configuration", Effect.succeed(config.warnings.join(" ") || "complete")))
  yield* Effect.gen(function* () {
    const name = yield* Effect.forkChild(publicName(config))
    for (const checked of yield* controlPlane(config)) show(checked)
    show(yield* enrollment(config))
    for (const checked of yield* edge(config)) show(checked)
    show(yield* Fiber.join(name))
    const reached = yield* origin(config)
    show(reached)
    show(yield* certificate(config, reached.finding.outcome === "ok"))
    if (config.certificate !== undefined) show(yield* CertificateStatusCheck.checkCustomCa(config.certificate))
    show(yield* CertificateStatusCheck.check(config))
  }).pipe(Effect.provide(OnboardingClient.layer(config.controlPlane)))
  if (screen.json) screen.result(JSON.stringify({ healthy: first === undefined, findings: shown }))
  if (first !== undefined) return yield* Effect.fail(first)
}).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, QuicDial.layer]))
