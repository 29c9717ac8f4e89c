/** `catenet up`: everything on one machine. */
import * as Documentation from "@catenet/platform/Documentation"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Logs from "../Logs.ts"
import { variables } from "../up/Settings.ts"
import { root } from "./root.ts"

export const up = Command.make(
  "up",
  {
    demo: Flag.Boolean("demo").pipe(
      Flag.withDescription("Also start the demo page and its tunnel; --no-demo omits them"),
      Flag.withDefault(true)
    )
  },
  Effect.fn(function* ({ demo }) {
    const { logFormat } = yield* root
    const { up: run } = yield* Effect.promise(() => import("../up/RunStack.ts"))
    return yield* run({ demo }).pipe(Effect.scoped, Effect.provide(Logs.layer(logFormat, "catenet")))
  })
).pipe(
  Command.withDescription(
    "Starts the whole platform on loopback: PostgreSQL, identity provider, control plane, edge, and a demo tunnel.\n\n" +
      `All variables have defaults:\n${Documentation.help(variables)}`
  ),
  Command.withShortDescription("Start the whole platform on this machine"),
  Command.withExamples([
    { command: "catenet up", description: "Everything, with a demo tunnel at https://hello.localhost:8443/" },
    { command: "catenet up --no-demo", description: "Without the demo tunnel" }
  ])
)
