/** How an agent opens its inspector, and `ct-agent inspect`, which finds it. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { readdirSync, statSync } from "node:fs"
import * as Inspector from "../../src/inspect/Inspector.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Screen } from "../../src/terminal/Screen.ts"

/** An agent that has opened its inspector for these files, and has had one visit. */
const opened = Effect.fnUntraced(function* (stateDir: string) {
  const metrics = yield* AgentMetrics.make
  const said: Array<string> = []
  const screen = {
    json: false,
    colors: false,
    live: true,
    log: (line: string) => said.push(line),
    result: () => {},
    status: () => {}
  }
  yield* Inspector.start(stateDir).pipe(
    Effect.provide(
      Layer.mergeAll(Layer.succeed(AgentMetrics, metrics), Layer.succeed(Screen, screen), NodeFileSystem.layer)
    )
  )
  const visit = {
    client: "192.0.2.7",
    host: "shop.example",
    tls: "agent",
    http: "2",
    connectMillis: 1,
    dial: Effect.never
  } as const
  metrics.inspection.current?.unreached(
    Buffer.from("GET /cart?token=abc123 HTTP/1.1\r\nHost: shop.example\r\nX-Odd: \u001b[2J\r\n\r\n"),
    visit,
    "origin: down"
  )
  for (const service of ["blog", "wiki"])
    metrics.inspection
      .ofService?.(service)
      .unreached(Buffer.from(`GET /at-${service} HTTP/1.1\r\nHost: ${service}.example\r\n\r\n`), visit, "origin: down")
  const [, address = "", port = ""] =
    /^Inspect requests at (http:\/\/127\.0\.0\.1:(\d+)\/\?token=[\w-]{43})$/u.exec(said[0] ?? "") ?? []
  return { address, metrics, port }
})

describe("ct-agent inspect", () => {
  it.live(
    "prints what the inspector of a running agent shows, and says which to choose and that there is none",
    () =>
      Effect.gen(function* () {
        const home = yield* Effect.acquireRelease(
          Effect.promise(() => makeHome()),
          (home) => Effect.promise(async () => home[Symbol.asyncDispose]())
        )
        const inspect = (...args: ReadonlyArray<string>) =>
          Effect.promise(async () => {
            await using agent = runAgent(home, { CT_AGENT_STATE_DIR: home.path }, ["inspect", ...args])
            const code = await agent.exited
            return { code, text: agent.stdout(), error: agent.lines.join("\n") }
          })
        const none = yield* inspect()
        assert.deepStrictEqual([none.code, none.text], [5, ""])
        assert.include(none.error, "ct-agent http PORT --inspect")

        const scope = yield* Scope.make()
        const first = yield* Scope.provide(opened(home.path), scope)
        const second = yield* Scope.provide(opened(home.path), scope)
        assert.notStrictEqual(first.port, second.port)
        const files = readdirSync(`${home.path}/inspect`)
        assert.sameMembers(files, [`${first.port}.json`, `${second.port}.json`])
        for (const file of files) assert.strictEqual(statSync(`${home.path}/inspect/${file}`).mode & 0o777, 0o600)

        const which = yield* inspect()
        assert.strictEqual(which.code, 2)
        for (const { port } of [first, second]) assert.include(which.error, `--port ${port}`)
        const at = ["--port", first.port]
        const list = yield* inspect(...at)
        assert.strictEqual(list.code, 0)
        assert.match(list.text, /^ +1 .* GET \/cart\?token=••••••$/mu)
        const one = yield* inspect("1", ...at)
        assert.include(one.text, "failed: origin: down")
        assert.include(one.text, "> X-Odd: \\u001b[2J")
        assert.include((yield* inspect("1", "--show-secrets", ...at)).text, "token=abc123")
        const { requests } = JSON.parse((yield* inspect("--json", ...at)).text)
        assert.deepStrictEqual(
          requests.map(({ id, service }: { id: number; service: string | null }) => [id, service]),
          [
            [3, "wiki"],
            [2, "blog"],
            [1, null]
          ]
        )
        const ofBlog = yield* inspect("--service", "blog", ...at)
        assert.match(ofBlog.text, /^ +2 .* GET \/at-blog  \(blog\)\n$/u)
        assert.strictEqual((yield* inspect("--service", "none", ...at)).text, "No request is recorded.\n")
        assert.strictEqual(JSON.parse((yield* inspect("--har", "--search", "cart", ...at)).text).log.entries.length, 1)
        assert.strictEqual((yield* inspect("--address", ...at)).text, `${first.address}\n`)
        for (const [args, code] of [
          [["9"], 4],
          [["--replay"], 2],
          [["1", "--replay", "--har"], 2]
        ] as const)
          assert.strictEqual((yield* inspect(...args, ...at)).code, code, args.join(" "))

        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(readdirSync(`${home.path}/inspect`), [])
        assert.isUndefined(first.metrics.inspection.current)
        assert.strictEqual((yield* inspect()).code, 5)
      }).pipe(Effect.scoped),
    120_000
  )
})
