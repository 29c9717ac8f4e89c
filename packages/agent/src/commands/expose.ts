/** `http`, formerly `expose`: a public address for a local service in one command; creates the tunnel if needed. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Schedule } from "effect"
import { resolve } from "node:path"
import { encodeQR } from "qr"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as Exposure from "../account/Exposure.ts"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as Inspector from "../inspect/Inspector.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { baseUrl } from "../settings/HostPort.ts"
import { formatOrigin, hostFieldOf, isLoopback, type OriginPlace } from "../settings/OriginAddress.ts"
import * as Variables from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"
import * as StatusLine from "../terminal/StatusLine.ts"
import { demanded, type RuleFlags } from "./rules.ts"

/** A QR code of characters, two rows of it in a line: dark modules are the background of a terminal with light text. */
const quietZone = 2

/** Lines for a terminal. */
export const lines = (text: string): ReadonlyArray<string> => {
  const rows = encodeQR(text, "raw", { ecc: "low", border: quietZone })
  const isLight = (y: number, x: number) => rows[y]?.[x] === false
  const at = (y: number, x: number) => {
    const [upper, lower] = [isLight(y, x), isLight(y + 1, x)]
    if (upper) return lower ? "█" : "▀"
    return lower ? "▄" : " "
  }
  const [width] = [rows[0]?.length ?? 0]
  return Array.from({ length: Math.ceil(rows.length / 2) }, (_, line) =>
    Array.from({ length: width }, (_column, x) => at(2 * line, x)).join("")
  )
}

export interface Common extends RuleFlags {
  readonly name: Option.Option<string>
  readonly host: Option.Option<string>
  readonly login: boolean
  readonly controlPlane: Option.Option<string>
  readonly inspect: Option.Option<boolean>
  readonly rm: boolean
  readonly qr: boolean
}

interface Options extends Common {
  readonly target: string
  readonly hostHeader: Option.Option<string>
  readonly ca: Option.Option<string>
  readonly insecure: boolean
}

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
  if (screen.live || qr) for (const line of lines(url)) screen.log(line)
  screen.result(url)
})

/** Development servers refuse names that they do not know. */
const originVariables = Effect.fnUntraced(function* (
  origin: OriginPlace,
  { ca, hostHeader, insecure }: Pick<Options, "ca" | "hostHeader" | "insecure">
) {
  const header = Option.getOrElse(hostHeader, () => (isLoopback(origin) ? "origin" : "keep"))
  const field = hostFieldOf(origin, header)
  if (field !== undefined && Option.isNone(hostHeader))
    yield* Effect.logInfo(`the service gets the Host header ${field}; --host-header keep passes on the visitor's`)
  return {
    CT_AGENT_ORIGIN_HOST_HEADER: header,
    ...(Option.isSome(ca) ? { CT_AGENT_ORIGIN_CA: ca.value } : {}),
    ...(insecure ? { CT_AGENT_ORIGIN_INSECURE: "1" } : {})
  }
})

type OriginVariables = Readonly<Record<string, string>>

export const serve = (
  { controlPlane, host, inspect, login, name, qr, rm, ...rules }: Common,
  origin: OriginPlace,
  ofOrigin: Effect.Effect<OriginVariables>,
  shown: (url: string) => string = (url) => url
) =>
  Effect.gen(function* () {
    const named = Option.map(controlPlane, baseUrl.parse)
    if (Option.isSome(named) && named.value === undefined)
      return yield* new UsageWrong({ detail: "--control-plane is not an http or https address." })
    const values = yield* EnvironmentFile.read(yield* configFile, Variables.account)
    const exposure: Exposure.Exposure = {
      account: yield* ControlPlaneSelection.of({
        ...values,
        controlPlane: Option.getOrUndefined(named) ?? values.controlPlane
      }),
      host: Option.getOrUndefined(host),
      requiresLogin: login,
      rules: yield* demanded(rules),
      origin,
      name: Option.getOrUndefined(name),
      stateDir: values.stateDir,
      variables: {
        ...(yield* EnvironmentFile.texts(yield* configFile, Variables.exposePassedOn)),
        ...(yield* ofOrigin)
      }
    }
    const { live } = yield* Screen
    const inspecting = Option.getOrElse(inspect, () => live)
    const serving = Exposure.serve(exposure, (exposed) => {
      const url = shown(exposed.url)
      return Effect.all(
        [
          inspecting ? Inspector.start(values.stateDir) : Effect.void,
          announce(url, qr),
          StatusLine.run(`${url} -> ${formatOrigin(origin)}`)
        ],
        {
          concurrency: 3,
          discard: true
        }
      )
    })
    yield* Effect.raceFirst(serving, Signals.first)
    if (rm) yield* Exposure.remove(exposure)
    else
      yield* Effect.logInfo(
        `the address stays yours: the same command serves it again, ct-agent tunnel delete '${Exposure.nameOf(exposure)}' ends it`
      )
  }).pipe(Effect.scoped, Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists]))

export const expose = (options: Options) =>
  Effect.flatMap(Exposure.originOf(options.target), (origin) =>
    serve(options, origin, originVariables(origin, options))
  )

interface FilesOptions extends Common {
  readonly folder: string
  readonly listing: boolean
}

/** `files`: the same for a folder. */
export const files = (options: FilesOptions) =>
  serve(
    options,
    { _tag: "Folder", path: resolve(options.folder) },
    Effect.succeed(options.listing ? { CT_AGENT_ORIGIN_LISTING: "1" } : {})
  )
