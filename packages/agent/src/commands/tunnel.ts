/** `tunnels`, `tunnel create` and `tunnel delete`: manages a user's tunnels without the portal. */
import { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Schema } from "effect"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as TunnelClient from "../account/TunnelClient.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"

const account = Effect.gen(function* () {
  return yield* ControlPlaneSelection.of(yield* EnvironmentFile.read(yield* configFile, LoginVariables.account))
})

const encode = Schema.encodeSync(Tunnel)
const services = Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists])

export const tunnels = Effect.gen(function* () {
  const screen = yield* Screen
  const all = yield* TunnelClient.list(yield* account)
  if (screen.json) return screen.result(JSON.stringify(all.map((tunnel) => encode(tunnel))))
  if (all.length === 0) return yield* Effect.logInfo("no tunnels yet; make one with: ct-agent tunnel create NAME")
  const widest = Math.max(...all.map(({ name }) => name.length))
  for (const { hostname, id, name, owned, status } of all)
    screen.result(
      `${id}  ${status.padEnd(5)}  ${name.padEnd(widest)}  ${hostname ?? "-"}${owned ? "" : "  (shared with you)"}`
    )
}).pipe(services)

export const create = ({ name }: { readonly name: string }) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const tunnel = yield* TunnelClient.create(yield* account, name)
    if (screen.json) return screen.result(JSON.stringify(encode(tunnel)))
    screen.result(`id       = ${tunnel.id}`)
    if (tunnel.hostname !== null) screen.result(`hostname = ${tunnel.hostname}`)
    yield* Effect.logInfo(`made the tunnel ${name}. Serve it with: ct-agent http 3000 --name '${name}'`)
  }).pipe(services)

export const remove = ({ tunnel: wanted }: { readonly tunnel: string }) =>
  Effect.gen(function* () {
    const known = yield* account
    const tunnel = yield* TunnelClient.named(known, wanted)
    yield* TunnelClient.remove(known, tunnel)
    yield* Effect.logInfo(`deleted the tunnel ${tunnel.name}${tunnel.hostname === null ? "" : ` (${tunnel.hostname})`}`)
  }).pipe(services)
