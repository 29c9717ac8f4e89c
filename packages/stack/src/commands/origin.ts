/** `catenet origin`: the service behind the demo tunnel. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as Logs from "../Logs.ts"
import { startListening } from "../StartFailed.ts"
import * as DemoOrigin from "../up/DemoOrigin.ts"
import * as Settings from "../up/Settings.ts"
import { root } from "./root.ts"

export const origin = Command.make(
  "origin",
  {},
  Effect.fn(
    function* () {
      const demoOrigin = yield* Settings.readOrigin
      const { logFormat } = yield* root
      yield* Effect.acquireRelease(
        startListening("CT_DEMO_ORIGIN_LISTEN", demoOrigin, () => DemoOrigin.serve(demoOrigin.host, demoOrigin.port)),
        (server) => Effect.promise(() => server.close())
      )
      yield* Effect.logInfo("demo origin ready").pipe(Effect.provide(Logs.layer(logFormat, "catenet-origin")))
      return yield* Effect.never
    },
    (effect) => Effect.scoped(effect)
  )
).pipe(
  Command.withDescription("Runs the page behind the demo tunnel on CT_DEMO_ORIGIN_LISTEN. `up` starts it."),
  Command.withShortDescription("Run the demo page")
)
