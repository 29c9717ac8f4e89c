/** `catenet up`: everything on one machine. */
import * as Documentation from "@catenet/platform/Documentation"
import { Effect, Option } from "effect"
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
    ),
    folder: Flag.String("folder").pipe(
      Flag.optional,
      Flag.withDescription("Folder that `catenet init` has written: start the platform of its domain")
    )
  },
  Effect.fn(function* ({ demo, folder }) {
    const { logFormat } = yield* root
    if (Option.isSome(folder)) {
      const platform = yield* Effect.promise(() => import("../platform/RunPlatform.ts"))
      return yield* platform.up(folder.value).pipe(Effect.scoped, Effect.provide(Logs.layer(logFormat, "catenet")))
    }
    const { up: run } = yield* Effect.promise(() => import("../up/RunStack.ts"))
    return yield* run({ demo }).pipe(Effect.scoped, Effect.provide(Logs.layer(logFormat, "catenet")))
  })
).pipe(
  Command.withDescription(
    "Starts the whole platform on loopback: PostgreSQL, identity provider, control plane, edge, and a demo tunnel.\n" +
      "With --folder it starts the platform of a domain as `catenet init` has written it: no demo, public listeners, and\n" +
      "certificates from an authority; variables in catenet.env and of the process go before the file.\n\n" +
      `All variables have defaults:\n${Documentation.help(variables)}`
  ),
  Command.withShortDescription("Start the whole platform on this machine"),
  Command.withExamples([
    { command: "catenet up", description: "Everything, with a demo tunnel at https://hello.localhost:8443/" },
    { command: "catenet up --no-demo", description: "Without the demo tunnel" },
    { command: "catenet up --folder /etc/catenet", description: "The platform of your own domain" }
  ])
)
