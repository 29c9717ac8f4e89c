/** `ct-agent tcp` and `udp`, against a real control plane and edge: psql and PostgreSQL, a resolver and BIND. */
import { start, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { eventually, untilSuccess } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { Resolver } from "node:dns/promises"
import { copyFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import { AccountEdge, ended, home, login, publicPort, publicUdpPort, running, stack } from "./AccountStack.ts"
import { nameServer } from "./NameServer.ts"

const hasPsql = spawnSync("psql", ["--version"]).status === 0
if (!hasPsql) process.stderr.write("\nSKIPPED: PostgreSQL through a public port needs psql.\n\n")

const psql = (url: URL, sql: string) =>
  new Promise<string>((resolve, reject) => {
    execFile("psql", ["-XAtq", url.href, "-c", sql], { maxBuffer: 64_000_000 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr))
    )
  })

/** With a connection string, and the password apart. */
const psqlWith = (terms: string, sql: string, password: string) =>
  new Promise<string>((resolve, reject) => {
    const env = { ...process.env, PGPASSWORD: password }
    execFile("psql", ["-XAtq", terms, "-c", sql], { env }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(stderr))
    )
  })

const hasNamed = spawnSync("named", ["-v"]).status === 0
if (!hasNamed) process.stderr.write("\nSKIPPED: DNS through a public port needs BIND's named.\n\n")

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("a public port in one command", (it) => {
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
        const served = (args: ReadonlyArray<string>, visit: (address: string) => Promise<void>, name = "db") =>
          Effect.gen(function* () {
            const agent = yield* running(at, ["tcp", target, "--name", name, ...args])
            yield* Effect.raceFirst(
              Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 20_000)),
              Effect.promise(() => agent.exited)
            )
            const printed = agent.stdout().trim()
            assert.notStrictEqual(printed, "", agent.lines.join("\n"))
            yield* Effect.promise(() => visit(printed))
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

        // By TLS, at a host name.
        const edge = yield* AccountEdge
        const root = join(at.path, "root.pem")
        writeFileSync(root, edge.wildcardRoot)
        const secure = yield* served(
          ["--tls"],
          async (address) => {
            const { hostname } = new URL(address)
            const by = { host: hostname, hostaddr: "127.0.0.1", port: `${edge.frontDoor}` }
            const named = Object.entries({ ...by, dbname: database.pathname.slice(1), user: database.username })
            const terms = [...named, ["sslmode", "verify-full"], ["sslrootcert", root]].map((pair) => pair.join("="))
            const answer = await psqlWith(terms.join(" "), "select 6 * 7", decodeURIComponent(database.password))
            assert.strictEqual(answer, "42\n")
          },
          "secure"
        )
        assert.match(secure, /^tls:\/\/secure-[0-9a-f]{8}\.zone\.test:443$/u)
        const both = yield* ended(at, ["tcp", "22", "--tls", "--port", "20000"])
        assert.deepStrictEqual(
          [both.code, both.stderr.includes("--port does not work with --tls")],
          [2, true],
          both.stderr
        )
        const alone = yield* ended(at, ["tcp", "22", "--host", "a.zone.test"])
        assert.deepStrictEqual([alone.code, alone.stderr.includes("--host needs --tls")], [2, true], alone.stderr)
        const mixed = yield* ended(at, ["tcp", "22", "--name", "secure"])
        assert.strictEqual(mixed.code, 4)
        assert.include(mixed.stderr, "is reached by TLS at a host name, not at a port")
        const file = yield* ended(at, ["export"])
        assert.include(file.stdout, "tls: true")

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

  it.effect.skipIf(!hasNamed)("gives BIND a public UDP port that a resolver asks", () =>
    Effect.gen(function* () {
      const at = yield* home
      const port = yield* publicUdpPort
      const server = yield* nameServer(at.path)
      yield* login(at, "vera@example.test", [yield* TestServer.baseUrl])
      yield* ready
      const agent = yield* running(at, ["udp", `127.0.0.1:${server}`, "--name", "dns", "--rm"])
      yield* Effect.raceFirst(
        Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 20_000)),
        Effect.promise(() => agent.exited)
      )
      assert.strictEqual(agent.stdout().trim(), `udp://udp.zone.test:${port}`, agent.lines.join("\n"))
      const resolver = new Resolver({ timeout: 300, tries: 6 })
      resolver.setServers([`127.0.0.1:${port}`])
      // The edge opens the port as the agent is told that it is accepted. A longer answer would be asked for again over TCP.
      const texts = yield* untilSuccess(Effect.tryPromise(() => resolver.resolveTxt("long.ports.test")))
      assert.deepStrictEqual(texts, [["x".repeat(200), "y".repeat(200)]])
      const addresses = yield* Effect.promise(() =>
        Promise.all(Array.from({ length: 50 }, () => resolver.resolve4("www.ports.test")))
      )
      assert.deepStrictEqual(new Set(addresses.flat()), new Set(["192.0.2.7"]))
      agent.kill("SIGINT")
      assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
    })
  )

  it.effect("leads the visitor of one edge to the agent at another, over TCP and over UDP", () =>
    Effect.gen(function* () {
      const at = yield* home
      const { folder } = yield* AccountEdge
      const url = yield* TestServer.baseUrl
      /** An edge of the same authority, which the control plane learns of by its heartbeats. */
      const another = Effect.fnUntraced(function* (id: string, offered: Readonly<Record<string, string>>) {
        const [admin, mesh] = [yield* freePort("127.0.0.1"), yield* freePort("127.0.0.1")]
        const own = yield* temporaryFolder
        for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(folder, file), join(own, file))
        const variables = {
          CT_EDGE_CP_URL: url,
          CT_EDGE_ID: id,
          CT_EDGE_LISTEN: `127.0.0.1:${mesh}`,
          CT_EDGE_PUBLIC_ADDR: `127.0.0.1:${mesh}`,
          CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${admin}`,
          CT_EDGE_ADMIN_URL: `http://127.0.0.1:${admin}`,
          CT_EDGE_HEARTBEAT_SECS: "1",
          CT_EDGE_MESH_RELAY_ENABLED: "1",
          CT_EDGE_MESH_RELAY_PRIVATE: "1",
          ...offered
        }
        return yield* start(variables, { folder: own })
      })
      const port = yield* freePort("127.0.0.1")
      const visited = yield* another("visited", { CT_EDGE_PORTS: String(port), CT_EDGE_UDP_PORTS: String(port) })
      const serving = yield* another("serving", {})
      yield* login(at, "eve@example.test", [url])
      yield* ready
      const echo = yield* Effect.acquireRelease(
        Effect.promise(
          () =>
            new Promise<Server>((resolve) => {
              const server = createServer((socket) => void socket.on("error", () => undefined).pipe(socket))
              server.listen(0, "127.0.0.1", () => resolve(server))
            })
        ),
        (server) => Effect.sync(() => void server.close())
      )
      const { port: local } = echo.address() as AddressInfo
      const elsewhere = { CT_AGENT_EDGE: `127.0.0.1:${serving.mesh}` }
      const wish = ["--port", String(port)]
      // The control plane offers the port once it has heard of the edge that has it.
      const agent = yield* untilSuccess(
        Effect.gen(function* () {
          const agent = yield* running(at, ["tcp", String(local), "--name", "far", ...wish], elsewhere)
          const ended = Effect.andThen(
            Effect.promise(() => agent.exited),
            Effect.fail(new Error(agent.lines.join("\n")))
          )
          yield* Effect.raceFirst(
            Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 20_000)),
            ended
          )
          return agent
        })
      )
      assert.strictEqual(agent.stdout().trim(), `tcp://tcp.zone.test:${port}`)
      const heard = () =>
        new Promise<string>((resolve, reject) => {
          const socket = connect({ host: "127.0.0.1", port }, () => socket.write("hello"))
          socket.once("data", (data) => (resolve(data.toString()), socket.destroy()))
          socket.once("error", reject).once("close", () => reject(new Error("closed")))
        })
      assert.strictEqual(yield* untilSuccess(Effect.tryPromise(heard)), "hello")
      const crossed = async (edge: typeof visited, direction: string) =>
        (await edge.metrics())[`ct_edge_peer_visitors_total{direction="${direction}"}`] ?? 0
      assert.isAbove(yield* Effect.promise(() => crossed(visited, "to_peer")), 0)
      assert.isAbove(yield* Effect.promise(() => crossed(serving, "from_peer")), 0)

      const datagrams = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const socket = createSocket("udp4")
          socket.on("message", (text, from) => socket.send(text.toString().toUpperCase(), from.port, from.address))
          await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
          return socket
        }),
        (socket) => Effect.sync(() => void socket.close())
      )
      const far = yield* running(
        at,
        ["udp", `127.0.0.1:${datagrams.address().port}`, "--name", "far-udp", ...wish],
        elsewhere
      )
      yield* Effect.promise(() => eventually(async () => far.stdout() !== "", "an address", 20_000))
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => createSocket("udp4")),
        (socket) => Effect.sync(() => void socket.close())
      )
      let answer = ""
      client.on("message", (text) => (answer = text.toString()))
      yield* Effect.promise(() =>
        eventually(
          async () => {
            client.send("by another edge", port, "127.0.0.1")
            return answer !== ""
          },
          () => `an answer: ${far.lines.join("\n")}`
        )
      )
      assert.strictEqual(answer, "BY ANOTHER EDGE")
    })
  )
})
