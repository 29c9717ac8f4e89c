import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import type { OriginEcho } from "@catenet/wire/frames/MuxEcho"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import type { Origin as OriginSettings } from "../../src/settings/Settings.ts"
import * as OriginConnections from "../../src/tunnel/OriginConnections.ts"
import * as OriginProbe from "../../src/tunnel/OriginProbe.ts"
import { plainOrigin, startOrigin } from "../harness/Origins.ts"

const settings = (port: number, more: Partial<OriginSettings> = {}): OriginSettings => ({
  ...plainOrigin(port),
  ...more
})

const origin = (serve: Parameters<typeof startOrigin>[0]) =>
  Effect.acquireRelease(
    Effect.promise(() => startOrigin(serve)),
    (started) => Effect.promise(() => started[Symbol.asyncDispose]())
  )

/** An HTTP service that answers so; it keeps what it was asked. */
const service = (status: number, headers: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ server: Server; port: number; asked: Array<string> }>((resolve) => {
          const asked: Array<string> = []
          const server = createServer((incoming, outgoing) => {
            asked.push(`${incoming.method} ${incoming.url} ${incoming.headers.host}`)
            outgoing.writeHead(status, headers).end("x".repeat(100_000))
          })
          server.listen(0, "127.0.0.1", () => resolve({ server, port: (server.address() as AddressInfo).port, asked }))
        })
    ),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )

const asking = (of: OriginSettings, hostname?: string) =>
  OriginConnections.open(of).pipe(
    Effect.orDie,
    Effect.provide(NodeFileSystem.layer),
    Effect.flatMap((opened) => OriginProbe.make(opened, hostname)),
    Effect.map(
      (onEcho) => () =>
        Effect.callback<OriginEcho>((resume) => onEcho(1, (echo) => echo && resume(Effect.succeed(echo))))
    )
  )

const ask = (of: OriginSettings, hostname?: string) => Effect.flatMap(asking(of, hostname), (again) => again())

describe("a probe of the origin", () => {
  it.effect("connects, and says that it is up or refuses", () =>
    Effect.gen(function* () {
      const started = yield* origin((socket) => socket.resume())
      assert.deepInclude(yield* ask(settings(started.port)), { verdict: "up", origin: started.address })
      assert.strictEqual(started.connections(), 1)
      yield* Effect.promise(() => started[Symbol.asyncDispose]())
      assert.deepInclude(yield* ask(settings(started.port)), { verdict: "refused" })
    }).pipe(Effect.provide(AgentMetrics.layer))
  )

  it.effect("says that a name does not resolve, and that UDP cannot be asked", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* ask(plainOrigin(9, "no-such-host.invalid")), { verdict: "unresolved" })
      assert.deepInclude(yield* ask(settings(9, { protocol: "udp" })), { verdict: "unasked", millis: 0 })
    }).pipe(Effect.provide(AgentMetrics.layer))
  )

  for (const [status, verdict] of [
    [200, "up"],
    [299, "up"],
    [302, "up"],
    [399, "up"],
    [400, "status"],
    [404, "status"],
    [503, "status"]
  ] as const)
    it.effect(`takes HTTP ${status} for ${verdict}, asks once and follows no redirect`, () =>
      Effect.gen(function* () {
        const { asked, port } = yield* service(status, { location: "/elsewhere" })
        const echo = yield* ask(settings(port, { healthPath: "/healthz?full=1" }), "hello.example")
        assert.deepInclude(echo, verdict === "up" ? { verdict } : { verdict, status })
        assert.strictEqual(echo.status, verdict === "up" ? undefined : status)
        assert.deepStrictEqual(asked, ["GET /healthz?full=1 hello.example"])
      }).pipe(Effect.provide(AgentMetrics.layer))
    )

  it.effect("calls a service closed that answers no HTTP", () =>
    Effect.gen(function* () {
      const hangsUp = yield* origin((socket) => socket.once("data", () => socket.destroy()))
      assert.deepInclude(yield* ask(settings(hangsUp.port, { healthPath: "/" })), { verdict: "closed" })
      const talksNonsense = yield* origin((socket) => socket.once("data", () => socket.end("SSH-2.0-x\r\n")))
      assert.deepInclude(yield* ask(settings(talksNonsense.port, { healthPath: "/" })), { verdict: "closed" })
    }).pipe(Effect.provide(AgentMetrics.layer))
  )

  it.effect("gives a service five seconds to answer, and asks once for all who wait", () =>
    Effect.gen(function* () {
      const heard = Promise.withResolvers<void>()
      const mute = yield* origin((socket) => socket.once("data", () => heard.resolve()))
      const again = yield* asking(settings(mute.port, { healthPath: "/" }))
      const answers: Array<OriginEcho> = []
      const waiter = Effect.map(again(), (echo) => void answers.push(echo))
      const first = yield* Effect.forkChild(waiter, { startImmediately: true })
      yield* Effect.promise(() => heard.promise)
      const second = yield* Effect.forkChild(waiter, { startImmediately: true })
      yield* TestClock.adjust("4999 millis")
      assert.deepStrictEqual(answers, [])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.joinAll([first, second])
      assert.deepStrictEqual(
        answers.map(({ verdict }) => verdict),
        ["timeout", "timeout"]
      )
      assert.strictEqual(mute.connections(), 1)
    }).pipe(Effect.provide(AgentMetrics.layer))
  )

  it.effect("begins with a PROXY header that claims no visitor, where the origin wants one", () =>
    Effect.gen(function* () {
      const heads: Array<string> = []
      const proxied = yield* origin((socket) =>
        socket.once("data", (bytes) => {
          heads.push(bytes.toString("hex"))
          socket.end("HTTP/1.1 204 \r\n\r\n")
        })
      )
      const v2 = { proxyProtocol: "v2" } as const
      assert.deepInclude(yield* ask(settings(proxied.port, { ...v2, healthPath: "/" })), { verdict: "up" })
      assert.isTrue(heads[0]?.startsWith("0d0a0d0a000d0a515549540a20000000"))
    }).pipe(Effect.provide(AgentMetrics.layer))
  )
})

describe("an agent that is asked by its edge", () => {
  it("answers for its registration, says by which key exchange it is connected, and shows its last probe", async () => {
    await using stage = await makeSurroundings()
    await using local = await startOrigin((socket) => socket.resume())
    await using home = await makeHome()
    const env = { ...stage.env, CT_AGENT_ORIGIN: local.address, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" }
    await using agent = runAgent(home, env)
    await registered(agent)
    const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0] ?? ""
    const probeOf = async () =>
      ((await (await fetch(`${base}/status`)).json()) as Record<string, unknown>)["last_probe"]
    assert.isNull(await probeOf())

    const [registration] = stage.edge.registrations
    const [session] = stage.edge.sessions
    assert.isTrue(registration?.request.answersEchoes)
    const echo = () => session?.echo(registration?.id ?? 0)
    assert.deepInclude(await echo(), { verdict: "up", origin: local.address, keyExchange: "x25519mlkem768" })
    assert.deepInclude(await probeOf(), { verdict: "up", origin: local.address, http_status: null })
    await local[Symbol.asyncDispose]()
    assert.deepInclude(await echo(), { verdict: "refused" })
    assert.deepInclude(await probeOf(), { verdict: "refused" })
  })
})
