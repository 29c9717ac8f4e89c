/** `catenet up`: everything on one machine. */
import { Command, Flag } from "effect/cli"
import { Effect } from "effect"
import * as Logs from "../Logs.ts"
import { root } from "./root.ts"

export const up = Command.make(
  "up",
  {
    demo: Flag.Boolean("demo").pipe(
      Flag.withDescription("Bring up the demo page and its tunnel too; --no-demo leaves them out"),
      Flag.withDefault(true)
    )
  },
  Effect.fn(function* ({ demo }) {
    const { logFormat } = yield* root
    const { up: run } = yield* Effect.promise(() => import("../up/Up.ts"))
    return yield* run({ demo }).pipe(Effect.scoped, Effect.provide(Logs.layer(logFormat, "catenet")))
  })
).pipe(
  Command.withDescription(
    "Brings the whole platform up on loopback: PostgreSQL, identity provider, control plane, edge, and a demo tunnel.\n" +
      "Data is kept in CT_STACK_FOLDER (.catenet). CT_CP_DATABASE_URL names another PostgreSQL. Ports: CT_CONTROL_PLANE_LISTEN\n" +
      "(127.0.0.1:8090), CT_FRONT_DOOR (:8443), CT_EDGE_LISTEN (:4433), CT_IDP_LISTEN (:8091), CT_EDGE_ADMIN_LISTEN (:9601),\n" +
      "CT_EDGE_METRICS_LISTEN (:9600), CT_DEMO_ORIGIN_LISTEN (:8092)."
  ),
  Command.withShortDescription("Bring the whole platform up on this machine"),
  Command.withExamples([
    { command: "catenet up", description: "Everything, with a demo tunnel at https://hello.localhost:8443/" },
    { command: "catenet up --no-demo", description: "Everything but the demo tunnel" }
  ])
)
