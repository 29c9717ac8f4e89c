/** `check`: the problems of a file of services, without starting anything. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import * as ServicePlan from "../services/ServicePlan.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import { Screen } from "../terminal/Screen.ts"

export const check = ({ file }: { readonly file: string }) =>
  Effect.gen(function* () {
    if (!ServicesFile.isNamed(file))
      return yield* ConfigurationInvalid.of(
        file,
        "is not a file of services",
        "name one that ends in .yaml, .yml or .json"
      )
    const { controlPlane, services } = yield* ServicePlan.read(file)
    const screen = yield* Screen
    const all = Array.from(services.values(), (plan) => ({
      name: plan.name,
      tunnel: plan.tunnel,
      kind: plan.kind,
      host: plan.host ?? null,
      port: plan.port ?? null,
      tls: plan.tls,
      to: ServicePlan.originText(plan)
    }))
    if (screen.json) return screen.result(JSON.stringify({ control_plane: controlPlane, services: all }))
    for (const { host, kind, name, port, tls, to } of all) {
      const place = kind === "http" ? (host ?? "-") : tls ? `tcp by TLS ${host ?? "-"}` : `${kind} port ${port ?? "-"}`
      screen.result(`${name}  ${place}  ${to}`)
    }
    yield* Effect.logInfo(
      `${file} is valid: ${all.length} ${all.length === 1 ? "service" : "services"} at ${controlPlane}`
    )
  }).pipe(Effect.provide(NodeFileSystem.layer))
