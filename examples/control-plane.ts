/** The control plane as routes of a program of one's own, on its database and with its accounts. */
import { Authentication, Server, Settings } from "@catenet/server"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

const { DATABASE_URL = "", PORT = "8090", TOKEN } = process.env
const ann = { subject: "ann", email: null, means: "bearer" } as const
const accounts = Authentication.layer(({ headers }) =>
  Effect.succeed(headers["authorization"] === `Bearer ${TOKEN}` ? Option.some(ann) : Option.none())
)
const home = HttpRouter.add("GET", "/", HttpServerResponse.text("my own page\n"))
HttpRouter.serve(Layer.mergeAll(home, Server.routesWith(accounts))).pipe(
  Layer.provide(PgClient.layer({ url: Redacted.make(DATABASE_URL), ...Server.databaseOptions })),
  Layer.provide([Settings.layer, NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: Number(PORT) })]),
  Layer.launch,
  NodeRuntime.runMain
)
