/** A server that looks every second, and tunnels whose alerts go to a receiver on this machine. */
import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { assert } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "../records/FactsEdge.ts"
import { account, server as factsServer, tunnel } from "../records/FactsServer.ts"
import { Receiver } from "./Receiver.ts"

export const ticking = { CT_CP_ALERT_TICK_SECS: "1", CT_CP_ALERTS_LOOPBACK: "1" }

export const server = factsServer(ticking).pipe(Layer.provideMerge(Receiver.layer))

/** The outage is as long ago as it would have been after waiting. */
export const pretend = (id: string, seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update alerts set since = since - ${seconds} where tunnel_id = ${id}`
  ).pipe(Effect.provide(Layer.fresh(database)), Effect.orDie)

/** When the next look is due: it moves with every look. */
export const dueAt = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ dueAt: number }>`select due_at from alerts where tunnel_id = ${id}`
  ).pipe(
    Effect.map(([row]) => row?.dueAt ?? 0),
    Effect.provide(Layer.fresh(database)),
    Effect.orDie
  )

export const alerted = (sub: string, called: string, path: string) =>
  Effect.gen(function* () {
    const { url } = yield* Receiver
    const { id, token } = yield* tunnel(sub, called)
    const { tunnelControls } = yield* account(sub)
    const payload = { webhook_url: `${url}${path}`, threshold_minutes: 1 }
    const { secret } = yield* tunnelControls.saveAlert({ params: { id }, payload })
    assert(secret !== undefined)
    return { id, token, path, secret: Redacted.value(secret) }
  })

/** Two more looks of whichever replica. */
export const looks = (token: string, count: number) =>
  Effect.gen(function* () {
    const { asked } = yield* FactsEdge
    const before = asked(token)
    yield* until(
      Effect.sync(() => asked(token)),
      (now) => now >= before + count
    )
  })
