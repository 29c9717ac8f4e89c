/** `export`: prints the file of services that the tunnels of an account make. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { extname } from "node:path"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as Exposure from "../account/Exposure.ts"
import * as TunnelClient from "../account/TunnelClient.ts"
import { Refused } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ServicesExport from "../services/ServicesExport.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"

export const exported = Effect.gen(function* () {
  const screen = yield* Screen
  const named = yield* configFile
  const loaded = ServicesFile.isNamed(named) ? yield* ServicesFile.read(named) : undefined
  const values = yield* EnvironmentFile.read(loaded === undefined ? named : null, LoginVariables.account)
  const controlPlane = values.controlPlane ?? loaded?.file.control_plane?.replace(/\/+$/u, "")
  const account = yield* ControlPlaneSelection.of({ ...values, controlPlane })
  const tunnels = (yield* TunnelClient.list(account)).filter(({ owned }) => owned)
  if (tunnels.length === 0 && loaded === undefined)
    return yield* new Refused({ detail: "Your account has no tunnels. Make the first one with ct-agent http 3000." })
  const origins = new Map<Tunnel, string | undefined>()
  const options = new Map<Tunnel, Exposure.OriginOptions>()
  for (const tunnel of tunnels) {
    origins.set(tunnel, yield* Exposure.keptOrigin(values.stateDir, tunnel))
    options.set(tunnel, yield* Exposure.keptOptions(values.stateDir, tunnel))
  }
  const yaml = yield* Effect.promise(() => import("yaml"))
  const given =
    loaded === undefined
      ? ServicesExport.empty(account.controlPlane)
      : { text: loaded.text, services: loaded.file.services }
  const { left, open, text } = ServicesExport.write(
    yaml,
    tunnels,
    (tunnel) => origins.get(tunnel),
    given,
    (tunnel) => options.get(tunnel) ?? {}
  )
  const isJson = screen.json || extname(named ?? "").toLowerCase() === ".json"
  screen.result(isJson ? JSON.stringify(yaml.parse(text), null, 2) : text.trimEnd())
  for (const reason of left) yield* Effect.logWarning(`a tunnel is not in the file: ${reason}`)
  if (open.length > 0) yield* Effect.logWarning(`set the local service (to) of: ${open.join(", ")}`)
}).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists]))
