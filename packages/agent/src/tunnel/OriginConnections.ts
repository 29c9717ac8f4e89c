/**
 * Opens connections to the origin: to a port or a socket of this machine, with TLS, over HTTP/2. What is written there is HTTP/1.1,
 * or another protocol of the visitor.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { isIP } from "@catenet/platform/IpAddress"
import { createSecureContext, getCACertificates, type Socket, Sockets } from "@catenet/platform/Sockets"
import * as Http2Origin from "@catenet/proxy/internal/http2/Http2Origin"
import type { OriginEcho } from "@catenet/wire/frames/MuxEcho"
import { resettable } from "@catenet/wire/transport/Abort"
import { Effect, FileSystem, Schedule, type Scope } from "effect"
import { join } from "node:path"
import type { ConnectionOptions, SecureContext, TLSSocket } from "node:tls"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import type { HostPort } from "../settings/HostPort.ts"
import { formatOrigin, hostFieldOf, type OriginPlace } from "../settings/OriginAddress.ts"
import type { Origin as Settings } from "../settings/Settings.ts"
import * as Origin from "./Origin.ts"

/** An origin to which connections can be opened. */
export interface Opened {
  /** As people write it. */
  readonly name: string
  /**
   * A connection that speaks HTTP/1.1, or whatever the service speaks. `opening` goes before everything else, TLS included.
   */
  readonly connect: (opening?: Uint8Array) => Effect.Effect<Socket, Origin.OriginDown>
  /** The same for a client whose TLS is not ended before the service. */
  readonly pass: (opening?: Uint8Array) => Effect.Effect<Socket, Origin.OriginDown>
}

/** What a probe finds; `origin` is named where it is one of several. */
export type Found = Pick<OriginEcho, "origin" | "status" | "verdict">

export type OpenOrigin = Settings &
  Opened & {
    /** Where it is several origins: what an echo through it finds. */
    readonly look?: Effect.Effect<Found, never, AgentMetrics>
  }

const bothVersions = ["h2", "http/1.1"]

/** What the certificate of the service is checked against. */
const trustOf = Effect.fnUntraced(function* ({ ca, insecure }: Settings) {
  if (ca === undefined) return { secureContext: undefined, rejectUnauthorized: !insecure }
  const fs = yield* FileSystem.FileSystem
  const pem = yield* Effect.mapError(fs.readFileString(ca), () =>
    ConfigurationInvalid.of("CT_AGENT_ORIGIN_CA", `names ${ca}, which cannot be read`, "correct the path")
  )
  return yield* Effect.try({
    try: () => {
      if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw new Error("no certificate")
      return { secureContext: createSecureContext({ ca: pem }), rejectUnauthorized: true }
    },
    catch: () =>
      ConfigurationInvalid.of("CT_AGENT_ORIGIN_CA", `names ${ca}, which holds no certificate`, "name a file in PEM")
  })
})

/** Problems that no connection would survive, found before anything starts. */
export const check = Effect.fnUntraced(function* (origin: Settings) {
  const { place } = origin
  yield* trustOf(origin)
  if (place._tag !== "Folder") return
  const fs = yield* FileSystem.FileSystem
  const isFolder = yield* fs.stat(place.path).pipe(
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (!isFolder)
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_ORIGIN",
      `names the folder ${place.path}, which does not exist`,
      "create it, or name another"
    )
})

let systemRoots: SecureContext | undefined
/** The authorities that the system trusts, and those of Node. */
const ofSystem = () =>
  (systemRoots ??= createSecureContext({ ca: [...getCACertificates("default"), ...getCACertificates("system")] }))

interface Trust {
  readonly secureContext: SecureContext | undefined
  readonly rejectUnauthorized: boolean
}

/** The name that the service's certificate has to have. */
const certifiedName = ({ host }: HostPort, { hostHeader }: Settings) =>
  isIP(host) === 0 || hostHeader === "keep" || hostHeader === "origin" ? host : hostHeader.replace(/:\d+$/u, "")

/** TLS over a connection; sessions are resumed. */
const securing = (address: HostPort, origin: Settings, trust: Trust) => {
  const name = formatOrigin(origin.place)
  const host = certifiedName(address, origin)
  let session: Buffer | undefined
  return (socket: Socket, ALPNProtocols: ReadonlyArray<string>) =>
    Effect.tapError(
      Origin.opened<TLSSocket>(name, "secureConnect", () => {
        const { rejectUnauthorized, secureContext = ofSystem() } = trust
        const options: ConnectionOptions = {
          socket,
          host,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          secureContext,
          rejectUnauthorized,
          ALPNProtocols: [...ALPNProtocols],
          ...(session === undefined ? {} : { session })
        }
        const secure = Sockets.dialTls(options)
        secure.on("session", (given) => {
          session = given
        })
        resettable(secure, socket)
        return secure
      }),
      () => Effect.sync(() => socket.destroy())
    )
}

/** The endpoint of an MCP server is at no path of its own. */
const pathOf = (place: Exclude<OriginPlace, { readonly host: string }>) => (place._tag === "Mcp" ? "" : place.path)

/** How connections are opened to this place, without the Host field. */
const reachOf = (origin: Settings, trust: Trust) => {
  const { place } = origin
  const name = formatOrigin(place)
  const direct = (opening?: Uint8Array) =>
    Effect.tap(
      Origin.connected("host" in place ? { host: place.host, port: place.port } : { path: pathOf(place) }, name),
      (socket) => Effect.sync(() => opening !== undefined && socket.write(opening))
    )
  const secure = place._tag === "Tls" ? securing(place, origin, trust) : undefined
  const over = (protocols: ReadonlyArray<string>) => (opening?: Uint8Array) =>
    Origin.bounded(
      name,
      secure === undefined
        ? direct(opening)
        : Effect.flatMap(direct(opening), (socket): Effect.Effect<Socket, Origin.OriginDown> =>
            secure(socket, protocols)
          )
    )
  return { pass: (opening?: Uint8Array) => Origin.bounded(name, direct(opening)), over }
}

/** A socket in a folder that only this user can enter. */
const privateSocket = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return join(yield* fs.makeTempDirectoryScoped({ prefix: "ct-agent-" }), "origin")
})

/** Where a server of this program is asked. */
const servedAt = Effect.fnUntraced(function* (name: string, server: AtSocket) {
  const path = yield* privateSocket
  yield* server(path)
  return Origin.bounded(name, Origin.connected({ path }, name))
}, Effect.orDie)

/** Where the files of a folder are asked for. */
const filesOf = Effect.fnUntraced(function* (name: string, folder: string, isListed: boolean) {
  const fs = yield* FileSystem.FileSystem
  const { open } = yield* Effect.promise(() => import("./FolderOrigin.ts"))
  return yield* servedAt(name, (path) =>
    Effect.orDie(Effect.provideService(open(path, folder, isListed), FileSystem.FileSystem, fs))
  )
})

/** Where an origin that speaks HTTP/2 is spoken to by HTTP/1.1. */
const doorOf = Effect.fnUntraced(function* (name: string, reach: Http2Origin.Reach) {
  const { fault } = yield* AgentMetrics
  const path = yield* privateSocket
  const { ready } = yield* Effect.acquireRelease(
    Effect.promise(() => Http2Origin.open(path, reach, fault)),
    ({ close }) => Effect.sync(close)
  )
  const taken = Effect.tryPromise({
    try: ready,
    catch: (error) =>
      error instanceof Origin.OriginDown
        ? error
        : new Origin.OriginDown({
            origin: name,
            why: error instanceof Error ? error.message : String(error),
            late: false
          })
  })
  return Effect.flatMap(taken, (own) => (own === undefined ? Origin.connected({ path }, name) : Effect.succeed(own)))
}, Effect.orDie)

/** Serves HTTP at a socket in the file system, for as long as the scope is open. */
export type AtSocket = (path: string) => Effect.Effect<void, never, Scope.Scope>

/** The origin with its connections, for as long as the scope is open. An MCP server is behind its endpoint. */
export const open = Effect.fn("OriginConnections.open")(function* (origin: Settings, endpoint?: AtSocket) {
  const { place } = origin
  const name = formatOrigin(place)
  const { over, pass } = reachOf(origin, yield* trustOf(origin))
  const isTls = place._tag === "Tls"
  const hasHttp2 = origin.proxyProtocol !== "v2" && (isTls || (place._tag === "Plain" && place.isHttp2))
  const atDoor = hasHttp2
    ? yield* doorOf(name, {
        scheme: isTls ? "https" : "http",
        connect: () => Effect.runPromise(over(bothVersions)()),
        connectHttp1: () => Effect.runPromise(over(["http/1.1"])()),
        speaksHttp2: (socket) => !("alpnProtocol" in socket) || socket.alpnProtocol === "h2"
      })
    : place._tag === "Folder"
      ? yield* filesOf(name, place.path, origin.listing)
      : endpoint && (yield* servedAt(name, endpoint))
  const connect = atDoor === undefined ? over(["http/1.1"]) : () => atDoor
  const host = hostFieldOf(place, origin.hostHeader)
  const opened: OpenOrigin = {
    ...origin,
    name,
    connect: (opening) => Effect.map(connect(opening), (socket) => Origin.adapted(socket, host)),
    pass: (opening) => Effect.map(pass(opening), (socket) => Origin.adapted(socket, undefined))
  }
  return opened
})

const absent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOENT"])

/** Warns where nothing listens yet, and reports the service once it does. */
export const awaitService = Effect.fn("OriginConnections.awaitService")(function* ({ connect, name }: Opened) {
  const answers = Effect.match(connect(), {
    onSuccess: (socket) => void socket.destroy(),
    onFailure: (error) => error
  })
  const first = yield* answers
  if (first === undefined) return
  const why = absent.has(first.code) ? `nothing listens at ${name} yet` : first.message
  yield* Effect.logWarning(`${clause(why)}; visitors get an error page until you start the service`)
  yield* Effect.repeat(answers, { schedule: Schedule.spaced("1 second"), until: (error) => error === undefined })
  yield* Effect.logInfo(`the service at ${name} answers now`)
})
