/** `ct-agent tcp`, against a real control plane and edge, with psql and a real PostgreSQL. */
import { eventually } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { ended, home, login, publicPort, running, stack } from "./AccountStack.ts"

const hasPsql = spawnSync("psql", ["--version"]).status === 0
if (!hasPsql) process.stderr.write("\nSKIPPED: PostgreSQL through a public port needs psql.\n\n")

const psql = (url: URL, sql: string) =>
  new Promise<string>((resolve, reject) => {
    execFile("psql", ["-XAtq", url.href, "-c", sql], { maxBuffer: 64_000_000 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr))
    )
  })

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("ct-agent tcp", (it) => {
  it.effect.skipIf(!hasPsql)(
    "gives PostgreSQL a public port that psql reaches, keeps it for the next run, and frees it with --rm",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const port = yield* publicPort
        const database = new URL(Redacted.value((yield* TestDatabase).url))
        const target = `${database.hostname}:${database.port}`
        yield* login(at, "vera@example.test", [yield* TestServer.baseUrl])
        yield* ready
        const served = (args: ReadonlyArray<string>, visit: () => Promise<void>) =>
          Effect.gen(function* () {
            const agent = yield* running(at, ["tcp", target, "--name", "db", ...args])
            yield* Effect.raceFirst(
              Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 20_000)),
              Effect.promise(() => agent.exited)
            )
            const printed = agent.stdout().trim()
            assert.notStrictEqual(printed, "", agent.lines.join("\n"))
            yield* Effect.promise(visit)
            agent.kill("SIGINT")
            assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
            return printed
          }).pipe(Effect.scoped)

        const through = new URL(database.href)
        through.host = `127.0.0.1:${port}`
        const printed = yield* served([], async () => {
          assert.strictEqual(await psql(through, "select 6 * 7"), "42\n")
          const rows = await psql(through, "select repeat('x', 1000) from generate_series(1, 5000)")
          assert.strictEqual(rows.length, 5000 * 1001)
        })
        assert.strictEqual(printed, `tcp://tcp.zone.test:${port}`)
        const again = yield* served(["--json", "--rm", "--port", String(port)], async () => {
          assert.strictEqual(await psql(through, "select 1"), "1\n")
        })
        assert.deepStrictEqual(JSON.parse(again), { url: printed, protocol: "tcp", host: "tcp.zone.test", port })
        assert.strictEqual((yield* ended(at, ["tunnels"])).stdout, "")

        const refused = yield* ended(at, ["tcp", "22", "--port", "1"])
        assert.strictEqual(refused.code, 4)
        assert.include(refused.stderr, `port must be one that edges offer: ${port}`)
        const made = yield* ended(at, ["tunnel", "create", "web"])
        assert.strictEqual(made.code, 0)
        const other = yield* ended(at, ["tcp", "22", "--name", "web"])
        assert.strictEqual(other.code, 4)
        assert.include(other.stderr, "is of kind http, not tcp")
      })
  )
})
