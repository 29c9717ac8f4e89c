import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { overheard } from "@catenet/testing/Overheard"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import * as AdminRoutes from "../../src/admin/AdminRoutes.ts"
import { ChannelRoom } from "../../src/channels/ChannelRoom.ts"
import { SessionHistory } from "../../src/history/SessionHistory.ts"
import * as HttpListener from "../../src/listen/HttpListener.ts"
import { ListenerHealth } from "../../src/listen/ListenerHealth.ts"
import { QuicPorts } from "../../src/listen/QuicPorts.ts"
import * as MetricsEndpoint from "../../src/metrics/MetricsEndpoint.ts"
import { ConnectionFaults } from "../../src/observe/ConnectionFaults.ts"
import { Counters } from "../../src/observe/Counters.ts"
import { Orders } from "../../src/orders/Orders.ts"
import { WorkerStats } from "../../src/processes/WorkerStats.ts"
import { Routes } from "../../src/routes/Routes.ts"
import { AgentSessions } from "../../src/sessions/AgentSessions.ts"
import { OriginEchoes } from "../../src/sessions/OriginEchoes.ts"
import { Settings } from "../../src/settings/Settings.ts"

const secrets = {
  admin: "ad317e".repeat(11).slice(0, 64),
  token: "5ec7e7".repeat(11).slice(0, 64),
  encoded: "%35%45".repeat(32),
  successor: "50cce5".repeat(11).slice(0, 64)
}

/** A service of which every member fails, and says in its error all that it was asked. */
const faulty = <A extends object>(depth = 2): A =>
  new Proxy(function () {} as unknown as A, {
    get: (_target, member) => {
      if (member === "then" || typeof member === "symbol") return undefined
      return depth > 1 && member === "sessions"
        ? faulty<A>(depth - 1)
        : member === "receipts"
          ? faulty<A>(1)
          : fails(member)
    }
  })
const fails =
  (member: string) =>
  (...asked: ReadonlyArray<unknown>): never => {
    throw new Error(`${member} failed for ${JSON.stringify(asked)}, ${asked.map(String).join(" ")}`)
  }

/** What the metrics page reads, of which each member fails. */
const brokenSources = new Proxy({} as Parameters<typeof MetricsEndpoint.routes>[0], {
  get: (_target, member) => fails(String(member))(secrets.token)
})

const settings = Settings.layer.pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ CT_EDGE_CERT_OUT: "/nowhere/root.der" })))
)

const services = Layer.mergeAll(
  Layer.succeed(Orders, faulty()),
  Layer.succeed(Routes, faulty()),
  Layer.succeed(AgentSessions, faulty()),
  Layer.succeed(ChannelRoom, faulty()),
  Layer.succeed(SessionHistory, faulty()),
  Layer.succeed(OriginEchoes, faulty()),
  Layer.succeed(WorkerStats, faulty()),
  Layer.succeed(QuicPorts, faulty()),
  Layer.succeed(ListenerHealth, {
    ...faulty<ListenerHealth["Service"]>(),
    stalled: Effect.sync(() => fails("stalled")(secrets.token))
  }),
  ConnectionFaults.layer.pipe(Layer.provide(Counters.layer)),
  settings
)

const calls = Object.values(EdgeAdminApi.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({ method, path }))
)

/** What a route reads, with secrets in the place of all that may be one. */
const bodyOf = (path: string): unknown =>
  path.endsWith("agent-keys")
    ? [secrets.token]
    : path.endsWith("bulk")
      ? { tokens: [secrets.token, secrets.successor] }
      : path.endsWith("access-policy")
        ? null
        : path.endsWith("channel/cut")
          ? { channel: secrets.token }
          : path.endsWith("tunnel/rules")
            ? []
            : path.endsWith("port")
              ? { protocol: "tcp", port: 20_000 }
              : { required: true }

it.live("no secret is in a log, a trace or a problem, whatever route of the admin interface or the metrics fails", () =>
  Effect.gen(function* () {
    const { listening, said } = yield* overheard
    const answers: Array<string> = []
    const broken = new Set<string>()
    yield* Effect.gen(function* () {
      const { port } = yield* HttpListener.serve(
        "CT_EDGE_ADMIN_LISTEN",
        { host: "127.0.0.1", port: 0 },
        AdminRoutes.routes(Redacted.make(secrets.admin))
      )
      const send = async (method: string, path: string, token: string, body: unknown) => {
        const address = path.replace(":host", "app.zone.test").replace(/:[a-z_]+/gu, token)
        const response = await fetch(`http://127.0.0.1:${port}${address}?token=${secrets.token}&code=hush-code`, {
          method,
          headers: {
            "x-ct-admin-token": secrets.admin,
            "x-ct-routing-token": token,
            "x-ct-successor-token": secrets.successor,
            "content-type": "application/json"
          },
          ...(method === "GET" ? {} : { body: JSON.stringify(body) })
        })
        if (response.status >= 500) broken.add(`${method} ${path}`)
        answers.push([...response.headers].flat().join(" "), await response.text())
      }
      const metrics = yield* HttpListener.serve(
        "CT_EDGE_METRICS_LISTEN",
        { host: "127.0.0.1", port: 0 },
        MetricsEndpoint.routes(brokenSources)
      )
      for (const path of ["/metrics", "/healthz"]) {
        const from = `http://127.0.0.1:${metrics.port}${path}?token=${secrets.token}&code=hush-code`
        const response = yield* Effect.promise(() => fetch(from))
        assert.isAtLeast(response.status, 500, path)
        answers.push([...response.headers].flat().join(" "), yield* Effect.promise(() => response.text()))
      }
      for (const { method, path } of calls)
        for (const token of [secrets.token, secrets.encoded])
          for (const body of [bodyOf(path), secrets.token]) yield* Effect.promise(() => send(method, path, token, body))
      yield* Effect.sleep("300 millis")
    }).pipe(Effect.scoped, Effect.provide(services), Effect.provide(listening))
    // Nothing is asked for an answer that is the same for every channel.
    const asked = calls.map(({ method, path }) => `${method} ${path}`).filter((route) => !route.includes("/presence/"))
    assert.deepStrictEqual(
      asked.filter((route) => !broken.has(route)),
      []
    )
    assert.isAbove(said.filter((text) => text.includes("resourceSpans")).length, 0)
    for (const secret of [...Object.values(secrets), "hush-code"]) {
      const leak = [...said, ...answers].find((text) => text.includes(secret))
      const at = leak?.indexOf(secret) ?? 0
      assert.isUndefined(leak?.slice(Math.max(0, at - 200), at + 100), secret)
    }
  }).pipe(Effect.scoped)
)
