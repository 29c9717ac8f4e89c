/** `expose`: a public address for a local service in one command, on a tunnel that is made when there is none yet. */
import { ended } from "@catenet/domain/values/Sentence"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, FileSystem, Option, Schedule } from "effect"
import { homedir, hostname } from "node:os"
import { join } from "node:path"
import type { Account } from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as ExposedTunnel from "../account/ExposedTunnel.ts"
import * as TunnelClient from "../account/TunnelClient.ts"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatHostPort, type HostPort, hostPort } from "../settings/HostPort.ts"
import * as Settings from "../settings/Settings.ts"
import * as Variables from "../settings/Variables.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import * as QrCode from "../terminal/QrCode.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Origin from "../tunnel/Origin.ts"
import { serveWith } from "./serve.ts"

interface Options {
  readonly target: string
  readonly name: Option.Option<string>
  readonly rm: boolean
  readonly qr: boolean
}

/** `3000`, `host:3000` or `http://host:3000`. */
const originOf = Effect.fnUntraced(function* (target: string) {
  const text = target.replace(/^http:\/\//u, "").replace(/\/$/u, "")
  const origin = hostPort.parse(/^\d+$/u.test(text) ? `localhost:${text}` : text)
  if (origin === undefined)
    return yield* new UsageWrong({ detail: `${target} is no local service: give a port, such as 3000, or host:port.` })
  return origin
})

/** A name of its own for each machine and port: agents of the same tunnel share its visitors. */
const nameOf = (port: number) => `${hostname().split(".")[0] ?? "machine"}-${port}`.slice(-60)

const settingsOf = Effect.fnUntraced(function* (
  { controlPlane }: Account,
  { hostname: host, stateDir }: ExposedTunnel.Exposed,
  origin: string
) {
  const texts = yield* EnvironmentFile.texts(yield* configFile, Variables.exposePassedOn)
  return yield* Settings.readFrom(
    ConfigProvider.fromUnknown({
      ...texts,
      CT_AGENT_CP_URL: controlPlane,
      CT_AGENT_MODE: "browser",
      CT_AGENT_HOSTNAME: host,
      CT_AGENT_ORIGIN: origin,
      CT_AGENT_STATE_DIR: stateDir,
      // A certificate of its own makes the name end-to-end; until it is there the edge ends TLS.
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: join(stateDir, "certificate")
    })
  )
})

/** Shows the address once visitors reach the local service by it. */
const announce = Effect.fnUntraced(function* (url: string, qr: boolean) {
  const { requests, session } = yield* AgentMetrics
  const screen = yield* Screen
  requests.count = 0
  yield* Effect.repeat(
    Effect.sync(() => session.live > 0),
    { schedule: Schedule.spaced("100 millis"), until: (isLive) => isLive }
  )
  if (screen.json) return screen.result(JSON.stringify({ url }))
  if (screen.live || qr) for (const line of QrCode.lines(url)) screen.log(line)
  screen.result(url)
})

/** Serves it. Tokens of an earlier run that are refused now are replaced once. */
const serving = Effect.fnUntraced(function* (
  account: Account,
  name: string,
  base: string,
  origin: HostPort,
  qr: boolean
) {
  const address = formatHostPort(origin)
  const run = (isFresh: boolean) =>
    Effect.gen(function* () {
      const exposed = yield* ExposedTunnel.of(account, name, base, isFresh)
      const settings = yield* settingsOf(account, exposed, address)
      const serve = serveWith(settings, {
        mustEnroll: true,
        what: `${exposed.url} -> ${address}`,
        beside: Effect.all([announce(exposed.url, qr), Origin.awaitService(origin)], { concurrency: 2, discard: true })
      })
      return { exposed, serve }
    })
  const { exposed, serve } = yield* run(false)
  if (!exposed.isKept) return yield* serve
  yield* Effect.catchTag(
    serve,
    "Refused",
    Effect.fnUntraced(function* ({ message }) {
      yield* Effect.logWarning(`${ended(message)} Getting new tokens.`)
      const again = yield* run(true)
      yield* again.serve
    })
  )
})

/** Deletes the tunnel and what is kept of it here. */
const removed = Effect.fnUntraced(function* (account: Account, name: string, base: string) {
  const fs = yield* FileSystem.FileSystem
  const tunnel = yield* TunnelClient.named(account, name)
  yield* TunnelClient.remove(account, tunnel)
  yield* Effect.ignore(fs.remove(join(base, tunnel.id), { recursive: true, force: true }))
  yield* Effect.logInfo(`deleted the tunnel ${name}`)
})

export const expose = (options: Options) =>
  Effect.gen(function* () {
    const { qr, rm, target } = options
    const origin = yield* originOf(target)
    const values = yield* EnvironmentFile.read(yield* configFile, Variables.account)
    const account = yield* ControlPlaneSelection.of(values)
    const name = Option.getOrElse(options.name, () => nameOf(origin.port))
    const base = join(values.stateDir ?? join(homedir(), ".ct-agent"), "exposed")
    yield* PrivateFile.folder(base)
    const lock = `${Buffer.from(name).toString("base64url")}.lock`
    if (!(yield* FolderLock.take(base, lock)))
      return yield* new UsageWrong({
        detail: `Another ct-agent expose serves the tunnel ${name} on this machine. End it, or name another one with --name.`
      })
    yield* serving(account, name, base, origin, qr)
    if (rm) yield* removed(account, name, base)
    else
      yield* Effect.logInfo(
        `the address stays yours: the same command serves it again, ct-agent tunnel delete '${name}' ends it`
      )
  }).pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists]))
