/** `catenet edge`: one edge, configured by its variables. */
import * as StartupMemory from "@catenet/agent/internal/StartupMemory"
import { variables } from "@catenet/edge/internal/settings/Variables"
import { youngCollector } from "@catenet/platform/BufferCollector"
import * as Documentation from "@catenet/platform/Documentation"
import { Effect, Layer, References } from "effect"
import { Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { asStartFailed } from "../StartFailed.ts"
import { root } from "./root.ts"

export const edge = Command.make(
  "edge",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    const [{ Edge }, { collectWith }] = yield* Effect.promise(() =>
      Promise.all([import("@catenet/edge/internal/Edge"), import("@catenet/wire/transport/BufferMemory")])
    )
    collectWith(youngCollector())
    const asked = yield* References.MinimumLogLevel
    const least = (yield* variables.trace.config) ? "Debug" : asked
    return yield* Layer.launch(Edge.layer.pipe(Layer.tap(() => Effect.sync(StartupMemory.serves)))).pipe(
      Effect.provideService(References.MinimumLogLevel, least),
      Effect.provide(Logs.layer(logFormat, "catenet-edge"))
    )
  }, Effect.mapError(asStartFailed))
).pipe(
  Command.withDescription(
    "Runs one edge: the front door for visitors (CT_FRONT_DOOR), the mesh port for agents (CT_EDGE_LISTEN) and the admin\n" +
      "API (CT_EDGE_ADMIN_LISTEN). After SIGTERM, running connections have CT_EDGE_SHUTDOWN_GRACE_SECS to finish.\n\n" +
      `Everything is configured by variables:\n${Documentation.help(variables)}`
  ),
  Command.withShortDescription("Run one edge")
)
