/** `export`: prints the file of services that the tunnels of an account make. */
import type { Rules } from "@catenet/domain/rules/Rules"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { extname } from "node:path"
import type { Account } from "../account/AccountClient.ts"
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

/** Tunnels whose rules are asked for at the same time. */
const askedAtOnce = 8

const ownedOf = Effect.fnUntraced(function* (account: Account, tunnel: Tunnel, stateDir: string | undefined) {
  // A control plane of an earlier version has no rules.
  const rules = yield* Effect.catchTag(TunnelClient.rules(account, tunnel), "Refused", (refused) =>
    refused.status === 404 ? Effect.succeed<Rules>([]) : Effect.fail(refused)
  )
  const owned: ServicesExport.Owned = {
    tunnel,
    rules,
    origin: yield* Exposure.keptOrigin(stateDir, tunnel),
    options: yield* Exposure.keptOptions(stateDir, tunnel)
  }
  return owned
})

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
  const all = yield* Effect.forEach(tunnels, (tunnel) => ownedOf(account, tunnel, values.stateDir), {
    concurrency: askedAtOnce
  })
  const yaml = yield* Effect.promise(() => import("yaml"))
  const given =
    loaded === undefined
      ? ServicesExport.empty(account.controlPlane)
      : { text: loaded.text, services: loaded.file.services }
  const { left, open, text } = ServicesExport.write(yaml, all, given)
  const isJson = screen.json || extname(named ?? "").toLowerCase() === ".json"
  screen.result(isJson ? JSON.stringify(yaml.parse(text), null, 2) : text.trimEnd())
  for (const reason of left) yield* Effect.logWarning(`a tunnel is not in the file: ${reason}`)
  if (open.length > 0) yield* Effect.logWarning(`set the local service (to) of: ${open.join(", ")}`)
}).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists]))
