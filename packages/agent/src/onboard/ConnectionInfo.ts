/**
 * The edge's address and pinned root certificate. The root comes from CT_AGENT_EDGE_CERT_URL; without it from the file
 * CT_AGENT_EDGE_CERT, or else from the control plane. A fetched root is written to the file, which is used when no server
 * answers.
 */
import { ended } from "@catenet/domain/values/Sentence"
import { Clock, Context, Effect, FileSystem, Layer, Result, Schedule } from "effect"
import { X509Certificate } from "node:crypto"
import { Unreachable } from "../Failure.ts"
import type { HostPort } from "../settings/HostPort.ts"
import type { Settings } from "../settings/Settings.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { OnboardingClient } from "./OnboardingClient.ts"

/**
 * Caches the mesh port of the control plane for a start at which it does not answer. Never fails: without a cached port the
 * agent tries the standard one.
 */
const standardMeshPort = 4433

const fileIn = (folder: string) => `${folder}/mesh-port`

const parse = (text: string) => {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port > 0 && port <= 65_535 ? port : undefined
}

/** The port cached in the state folder, else the standard one. */
const cachedMeshPort = (folder: string) =>
  PrivateFile.read(fileIn(folder)).pipe(
    Effect.map((bytes) => parse(new TextDecoder().decode(bytes)) ?? standardMeshPort),
    Effect.orElseSucceed(() => standardMeshPort)
  )

/** A folder that cannot be written fails at the writes that need it. */
const cacheMeshPort = (folder: string, port: number) =>
  PrivateFile.folder(folder).pipe(
    Effect.andThen(PrivateFile.replaceAll([{ path: fileIn(folder), bytes: new TextEncoder().encode(String(port)) }])),
    Effect.ignore
  )

const pollMillis = 500
const askMillis = 5000
const fetchAttempts = 3

const pemOf = (der: Uint8Array) =>
  Effect.try({
    try: () => new X509Certificate(der).toString(),
    catch: () => new Unreachable({ detail: "What was given as the edge's root certificate is no X.509 certificate." })
  })

interface State {
  readonly fs: FileSystem.FileSystem
  readonly settings: Settings
  readonly controlPlane: OnboardingClient["Service"]
  /** File of the cached root. */
  readonly file: string
  askedAt: number
  /** Why the control plane has not provided the root, while it is polled. */
  absence: string
}

const readCached = ({ file, fs }: State) =>
  PrivateFile.read(file).pipe(
    Effect.provideService(FileSystem.FileSystem, fs),
    Effect.flatMap((der) => (der === undefined || der.length === 0 ? Effect.undefined : pemOf(der))),
    Effect.orElseSucceed(() => undefined)
  )

const writeCached = ({ file, fs }: State, der: Uint8Array) =>
  PrivateFile.folder(file.slice(0, file.lastIndexOf("/")) || "/").pipe(
    Effect.andThen(PrivateFile.replaceAll([{ path: file, bytes: der }])),
    Effect.provideService(FileSystem.FileSystem, fs),
    Effect.catchTag("StateUnusable", (error) =>
      Effect.logWarning(`the root certificate is not cached: ${error.message}`)
    )
  )

const fetchRoot = Effect.fnUntraced(function* (state: State) {
  const der = yield* state.controlPlane.ca(state.settings.edgeCertificate.url)
  const pem = yield* pemOf(der)
  const old = yield* readCached(state)
  if (old !== undefined && old !== pem) yield* Effect.logWarning("the edge's root certificate has changed")
  if (old !== pem) yield* writeCached(state, der)
  return pem
})

/** The control plane is polled less often than the disk: many agents may wait for it. */
const fetchAtTimes = Effect.fnUntraced(function* (state: State) {
  const now = yield* Clock.currentTimeMillis
  if (now - state.askedAt < askMillis) return undefined
  state.askedAt = now
  const answer = yield* Effect.result(fetchRoot(state))
  if (Result.isSuccess(answer)) return answer.success
  state.absence = ` ${answer.failure.message}`
  return undefined
})

/** Waits until the file or the control plane has the root. */
const awaitRoot = Effect.fnUntraced(function* (state: State) {
  const { file, settings } = state
  const { fileNamed, logIntervalSecs, waitSecs } = settings.edgeCertificate
  const begun = yield* Clock.currentTimeMillis
  let loggedAt = Number.NEGATIVE_INFINITY
  while (true) {
    const [cached, fetched] = [readCached(state), fetchAtTimes(state)]
    const pem = fileNamed ? ((yield* cached) ?? (yield* fetched)) : ((yield* fetched) ?? (yield* cached))
    if (pem !== undefined) return pem
    const now = yield* Clock.currentTimeMillis
    if (waitSecs !== undefined && now - begun >= waitSecs * 1000)
      return yield* new Unreachable({
        detail:
          `No root certificate of the edge at ${file} within ${waitSecs} s (CT_AGENT_EDGE_CERT_WAIT_SECS). Set ` +
          `CT_AGENT_EDGE_CERT_URL to the control plane's address, or put the file there.${state.absence}`
      })
    if (now - loggedAt >= logIntervalSecs * 1000) {
      loggedAt = now
      yield* Effect.logInfo(`waiting for the edge's root certificate at ${file}.${state.absence}`)
    }
    yield* Effect.sleep(pollMillis)
  }
})

/** Asks the named address; its last answer stands in for it. */
const askRoot = (state: State) =>
  fetchRoot(state).pipe(
    Effect.retry({ schedule: Schedule.exponential("500 millis"), times: fetchAttempts - 1 }),
    Effect.catch((error) =>
      Effect.flatMap(readCached(state), (pem) =>
        pem === undefined
          ? Effect.fail(error)
          : Effect.as(Effect.logWarning(`${ended(error.message)} Using the copy at ${state.file}.`), pem)
      )
    )
  )

/** The control plane's host with the mesh port that it publishes. */
const publishedEdge = ({ controlPlane, fs, settings }: State) => {
  const host = new URL(controlPlane.url).hostname.replace(/^\[|\]$/g, "")
  let port: number | undefined
  return Effect.gen(function* () {
    if (port === undefined) {
      port = yield* controlPlane.meshPort
      yield* cacheMeshPort(settings.stateDir, port)
    }
    return { host, port }
  }).pipe(
    Effect.catchTag("Unreachable", (error) =>
      Effect.flatMap(cachedMeshPort(settings.stateDir), (kept) =>
        Effect.as(Effect.logWarning(`${ended(error.message)} Trying port ${kept}.`), { host, port: kept })
      )
    ),
    Effect.provideService(FileSystem.FileSystem, fs)
  )
}

export class ConnectionInfo extends Context.Service<
  ConnectionInfo,
  {
    /** The configured address, or the control plane's host with the mesh port that it publishes. */
    readonly edge: Effect.Effect<HostPort>
    /** The pinned root as PEM. */
    readonly ca: Effect.Effect<string>
    /** Fetches the root again; the new PEM, or undefined when it is the same or cannot be had. */
    readonly refreshCa: Effect.Effect<string | undefined>
  }
>()("agent/onboard/ConnectionInfo") {
  static readonly layer = (settings: Settings) =>
    Layer.effect(
      ConnectionInfo,
      Effect.gen(function* () {
        const { edgeCertificate, stateDir } = settings
        const state: State = {
          fs: yield* FileSystem.FileSystem,
          settings,
          controlPlane: yield* OnboardingClient,
          file: edgeCertificate.fileNamed
            ? edgeCertificate.file
            : yield* PrivateFile.place(edgeCertificate.file, `${stateDir}/edge-cert.der`),
          askedAt: Number.NEGATIVE_INFINITY,
          absence: ""
        }
        let ca = yield* edgeCertificate.url === undefined ? awaitRoot(state) : askRoot(state)
        return {
          edge: settings.edge === undefined ? publishedEdge(state) : Effect.succeed(settings.edge),
          ca: Effect.sync(() => ca),
          refreshCa: Effect.gen(function* () {
            const pem = yield* Effect.orElseSucceed(fetchRoot(state), () => undefined)
            if (pem === undefined || pem === ca) return undefined
            ca = pem
            return pem
          })
        }
      })
    )
}
