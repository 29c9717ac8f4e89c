/** `catenet serve`: one replica of the control plane. */
import * as StartupMemory from "@catenet/agent/internal/StartupMemory"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { asStartFailed } from "../StartFailed.ts"
import { root } from "./root.ts"

export const serve = Command.make(
  "serve",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    // Schemas that are used after this are compiled on first use; that is worth a third of the rate of small answers.
    yield* Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable"))
    const [Server, { Settings }] = yield* Effect.promise(() =>
      Promise.all([import("@catenet/server/internal/Server"), import("@catenet/server/internal/settings/Settings")])
    )
    const [ChannelDialer, PlatformAcme] = yield* Effect.promise(() =>
      Promise.all([import("../bridge/ChannelDialer.ts"), import("../bridge/PlatformAcme.ts")])
    )
    return yield* Layer.launch(
      Server.layer.pipe(
        Layer.provide([ChannelDialer.layer, PlatformAcme.layer]),
        Layer.provide(Settings.layer),
        Layer.tap(() => Effect.sync(StartupMemory.serves))
      )
    ).pipe(Effect.mapError(asStartFailed), Effect.provide(Logs.layer(logFormat, "catenet-control-plane")))
  })
).pipe(
  Command.withDescription(
    "Runs one replica of the control plane on CT_CONTROL_PLANE_LISTEN, with the database CT_CP_DATABASE_URL.\n" +
      "Updates the schema first. Any number of replicas may share a database."
  ),
  Command.withShortDescription("Run the control plane")
)
