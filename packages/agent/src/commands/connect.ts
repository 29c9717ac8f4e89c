/** `connect`: connects to a mesh tunnel as a client. */
import * as Capability from "@catenet/crypto/Capability"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type * as VariableReader from "@catenet/platform/VariableReader"
import * as ProcessFaults from "@catenet/wire/transport/ProcessFaults"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import { proxyFor } from "../carrier/OutgoingProxy.ts"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as DirectPathState from "../connect/DirectPathState.ts"
import * as PortForward from "../connect/PortForward.ts"
import * as QuicPath from "../connect/QuicPath.ts"
import { Unreachable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { OnboardingClient } from "../onboard/OnboardingClient.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { type HostPort, parseHostPort } from "../settings/HostPort.ts"
import * as TunnelTransports from "../settings/TunnelTransports.ts"
import * as Variables from "../settings/Variables.ts"
import * as Signals from "../terminal/Signals.ts"

export interface Options {
  readonly capability: string
  readonly listen: Option.Option<string>
  readonly udp: boolean
  readonly stdio: boolean
  readonly viaEdge: boolean
  readonly ca: Option.Option<string>
}

const { of: wrong } = ConfigurationInvalid

const readCapability = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* Effect.mapError(fs.readFile(path), () =>
    wrong(`--capability ${path}`, "cannot be read", "copy the file that the agent has written to this machine")
  )
  const capability = yield* Effect.mapError(Effect.fromResult(Capability.decode(bytes)), () =>
    wrong(`--capability ${path}`, "is not a capability", "copy the file again, byte for byte")
  )
  const edge = parseHostPort(capability.edgeAddress)
  if (edge === undefined) return yield* wrong(`--capability ${path}`, "names no edge address", "ask for a new one")
  return { capability, edge }
})

const pemOf = (what: string, bytes: Uint8Array) =>
  Effect.try({
    try: () => new X509Certificate(bytes).toString(),
    catch: () => wrong(what, "is not a certificate", "use the edge's root, from /pki/ca of the control plane")
  })

/** The edge's root: from `--ca`, else from CT_AGENT_EDGE_CERT, else from the control plane. */
const readRoot = Effect.fnUntraced(function* (
  settings: VariableReader.Values<typeof Variables.connect>,
  named: string | undefined
) {
  const fs = yield* FileSystem.FileSystem
  const path = named ?? settings.edgeCertificate
  if (path !== undefined) {
    const place = named === undefined ? "CT_AGENT_EDGE_CERT" : "--ca"
    const bytes = yield* Effect.mapError(fs.readFile(path), () => wrong(path, "cannot be read", `correct ${place}`))
    return yield* pemOf(path, bytes)
  }
  const url = settings.edgeCertificateUrl ?? settings.controlPlane
  if (url === undefined)
    return yield* wrong("The edge's root certificate", "is not known", "set --ca FILE, or CT_AGENT_CP_URL to fetch it")
  const der = yield* OnboardingClient.use((plane) => plane.ca(undefined)).pipe(
    Effect.provide(OnboardingClient.layer(url))
  )
  return yield* pemOf(`${url}/pki/ca`, der)
})

/** Where to listen; undefined for stdin and stdout. */
const listenOf = ({ listen, stdio, udp }: Options): Effect.Effect<HostPort | undefined, UsageWrong> => {
  const wrong = (detail: string) => Effect.fail(new UsageWrong({ detail }))
  if (stdio && udp) return wrong("--udp does not work with --stdio. Use --listen.")
  if (stdio) return Option.isSome(listen) ? wrong("--listen and --stdio exclude each other.") : Effect.undefined
  const address = Option.isSome(listen) ? parseHostPort(listen.value) : undefined
  if (address !== undefined) return Effect.succeed(address)
  const what = Option.isSome(listen) ? "--listen is not host:port" : "There is neither --listen nor --stdio"
  return wrong(`${what}. Write for example --listen 127.0.0.1:5432, or use --stdio.`)
}

export const connect = (options: Options) =>
  Effect.gen(function* () {
    const listen = yield* listenOf(options)
    const settings = yield* EnvironmentFile.read(yield* configFile, Variables.connect)
    const { capability, edge } = yield* readCapability(options.capability)
    const ca = yield* readRoot(settings, Option.getOrUndefined(options.ca))
    const isDirect = !options.viaEdge && (yield* proxyFor(edge)) === undefined
    const route = isDirect ? DirectPathState.make() : undefined
    const faults = yield* ProcessFaults.make(() => undefined)
    const quic = yield* QuicPath.make(edge, ca, capability.routingToken, TunnelTransports.of(settings))
    const { postQuantum } = settings
    const target = { capability, edge, ca, datagrams: options.udp, postQuantum, route, faults, quic }
    if (listen !== undefined)
      return yield* options.udp ? PortForward.udp(target, listen) : PortForward.tcp(target, listen)
    return yield* Effect.mapError(PortForward.stdio(target), (error) => new Unreachable({ detail: error.message }))
  }).pipe(
    (connecting) => Effect.raceFirst(connecting, Signals.first),
    Effect.scoped,
    Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, QuicDial.layer, SecureRandom.layerWebCrypto])
  )
