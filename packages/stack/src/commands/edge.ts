/** `catenet edge`: one edge, configured by its variables. */
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { asConfigurationInvalid } from "../ConfigurationInvalid.ts"
import * as Logs from "../Logs.ts"
import { settled } from "../Settled.ts"
import { root } from "./root.ts"

export const edge = Command.make(
  "edge",
  {},
  Effect.fn(function* () {
    const { logFormat } = yield* root
    const { Edge } = yield* Effect.promise(() => import("@catenet/edge/Edge"))
    return yield* Layer.launch(Edge.layer.pipe(Layer.tap(() => settled))).pipe(
      Effect.mapError(asConfigurationInvalid),
      Effect.provide(Logs.layer(logFormat, "catenet-edge"))
    )
  })
).pipe(
  Command.withDescription(
    "Runs one edge: the front door of visitors (CT_FRONT_DOOR), the mesh port of agents (CT_EDGE_LISTEN) and the admin\n" +
      "interface (CT_EDGE_ADMIN_LISTEN). SIGTERM lets running connections finish for CT_EDGE_SHUTDOWN_GRACE_SECS."
  ),
  Command.withShortDescription("Run one edge")
)
