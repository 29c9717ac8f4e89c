/**
 * One agent with a file of services of all kinds, visited by programs that people use: curl, a browser with Vite's live reload, psql,
 * ssh, dig, a gRPC client, a client of MCP. Under load the file is reloaded again and again, and no visit is lost. A campaign, since
 * its parts are in the gate one by one (`agent/Services`, `agent/Ports`, `proxy/Grpc`, `agent/Mcp`).
 *
 * One file, since all clients visit one agent while it is reloaded.
 */
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { eventually } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { Effect, Redacted } from "effect"
import { decodeJwt } from "jose"
import { execFile, spawn, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { installGrpc } from "../../../../scripts/install.mjs"
import { freePort } from "../../src/Ports.ts"
import {
  AccountEdge,
  ended,
  home,
  login,
  publicPort,
  publicUdpPort,
  running,
  stack,
  tokenIn
} from "../agent/AccountStack.ts"
import { through } from "../agent/McpClients.ts"
import { nameServer } from "../agent/NameServer.ts"
import type { Call, Grpc } from "../proxy/fourWays/GrpcTypes.ts"

const programs = ["/usr/bin/chromium", "curl", "dig", "named", "psql", "ssh", "/usr/sbin/sshd"]
const missing = programs.filter((program) => spawnSync("which", [program]).status !== 0)
const isAsked = process.env["CATENET_SERVICES"] !== undefined
const isWanted = isAsked && missing.length === 0
if (isAsked && !isWanted) process.stderr.write(`\nSKIPPED: services of all kinds need ${missing.join(", ")}.\n\n`)
const reloads = 20
/** Of those that start the agent: until its first answer at the public address. */
const firstAnswerMillis = 1_200
const mcpServer = fileURLToPath(new URL("../../../agent/test/harness/McpServer.ts", import.meta.url))
const vite = fileURLToPath(new URL("../../../../node_modules/vite/bin/vite.js", import.meta.url))
const wildcard = "*.dev.example.test"

/** What a program prints to stdout; fails with what it prints to stderr. */
const output = (program: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  new Promise<string>((resolve, reject) => {
    execFile(program, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${program}: ${error.message} ${stderr}`))
    )
  })

const served = <A extends { close: () => unknown; closeAllConnections: () => void }>(
  server: A & { listen: (...at: never) => unknown },
  at: { readonly host: string; readonly port: number } | { readonly path: string } = { host: "127.0.0.1", port: 0 }
) =>
  Effect.acquireRelease(
    Effect.promise(() => new Promise<A>((resolve) => void server.listen(...([at, () => resolve(server)] as never)))),
    (started) => Effect.sync(() => (started.closeAllConnections(), void started.close()))
  )

const saying =
  (name: string): RequestListener =>
  (request, response) =>
    void response.end(`${name} ${request.url} ${request.headers["x-forwarded-host"]}\n`)
const portOf = (server: { address: () => unknown }) => (server.address() as AddressInfo).port

/** A program of another maker that runs beside the test. */
const beside = (program: string, args: ReadonlyArray<string>, cwd?: string) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(program, args, { cwd, stdio: "ignore" })),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )

/** Vite's development server with a page that shows a text of a module. */
const viteServer = Effect.fnUntraced(function* (folder: string) {
  mkdirSync(folder)
  const port = yield* freePort("127.0.0.1")
  writeFileSync(join(folder, "index.html"), `<h1></h1><script type="module" src="/main.js"></script>`)
  const show = (text: string) =>
    writeFileSync(join(folder, "main.js"), `document.querySelector("h1").textContent = ${JSON.stringify(text)}\n`)
  show("before")
  yield* beside(process.execPath, [vite, "--host", "127.0.0.1", "--port", String(port), "--strictPort"], folder)
  return { port, show }
})

const sshServer = Effect.fnUntraced(function* (folder: string) {
  const port = yield* freePort("127.0.0.1")
  const key = join(folder, "ssh-key")
  for (const file of [key, join(folder, "host-key")])
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file])
  mkdirSync("/run/sshd", { recursive: true })
  const options = [
    ["ListenAddress", "127.0.0.1"],
    ["Port", port],
    ["HostKey", join(folder, "host-key")],
    ["AuthorizedKeysFile", `${key}.pub`],
    ["StrictModes", "no"],
    ["UsePAM", "no"],
    ["PidFile", "none"]
  ].flatMap(([name, value]) => ["-o", `${name}=${value}`])
  yield* beside("/usr/sbin/sshd", ["-D", "-f", "/dev/null", ...options])
  return { port, key }
})

const unary = {
  path: "/catenet.test.Echo/Unary",
  requestStream: false,
  responseStream: false,
  requestSerialize: (bytes: Buffer) => bytes,
  requestDeserialize: (bytes: Buffer) => bytes,
  responseSerialize: (bytes: Buffer) => bytes,
  responseDeserialize: (bytes: Buffer) => bytes
}

layer(stack, { excludeTestServices: true, timeout: "300 seconds" })("a file with services of all kinds", (it) => {
  it.effect.runIf(isWanted)("serves real clients, and loses no visit while it is reloaded under load", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const url = yield* TestServer.baseUrl
      const [tcpPort, udpPort] = [yield* publicPort, yield* publicUdpPort]
      const path = (name: string) => join(at.path, name)
      installGrpc()
      const grpc = createRequire(new URL("../../../../tools/grpc/package.json", import.meta.url))(
        "@grpc/grpc-js"
      ) as Grpc & {
        readonly makeGenericClientConstructor: (
          service: object,
          name: string
        ) => new (...given: ReadonlyArray<unknown>) => {
          readonly Unary: (request: Buffer, done: (error: Error | null, answer: Buffer) => void) => void
          readonly close: () => void
        }
        readonly credentials: { readonly createSsl: (root: Buffer) => unknown }
      }

      // What the services are.
      const [one, two] = [yield* served(createServer(saying("one"))), yield* served(createServer(saying("two")))]
      const pair = mintPair(["localhost"])
      writeFileSync(path("origin-ca.pem"), pair.root)
      const secure = yield* served(createSecureServer(pair, saying("secure")))
      yield* served(createServer(saying("socket")), { path: path("app.sock") })
      mkdirSync(path("public"))
      writeFileSync(path("public/index.html"), "a folder\n")
      const calls = new grpc.Server()
      calls.addService(
        { Unary: unary },
        {
          Unary: (call: Call, answer: (error: unknown, value: Buffer) => void) => answer(null, call.request)
        }
      )
      const grpcPort = yield* Effect.acquireRelease(
        Effect.callback<number>((resume) =>
          calls.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_, port) =>
            resume(Effect.succeed(port))
          )
        ),
        () => Effect.sync(() => calls.forceShutdown())
      )
      const dev = yield* viteServer(path("vite"))
      const ssh = yield* sshServer(at.path)
      const dns = yield* nameServer(at.path)
      const database = new URL(Redacted.value((yield* TestDatabase).url))
      const ours = mintPair([wildcard])
      writeFileSync(path("wild.pem"), ours.cert)
      writeFileSync(path("wild-key.pem"), ours.key, { mode: 0o600 })
      yield* login(at, "vera@example.test", [url])
      yield* ready
      const subject = decodeJwt(tokenIn(at.path)).sub ?? ""
      const byOperator = (method: string, path: string, body: object) =>
        Effect.gen(function* () {
          const headers = { "content-type": "application/json", "x-ct-admin-token": TestServer.adminToken }
          const { status } = yield* TestServer.raw(path, { method, headers, body: JSON.stringify(body) })
          assert.strictEqual(status, 200, path)
        })
      yield* byOperator("PATCH", `/admin/accounts/${subject}`, { max_tunnels: 20 })
      yield* byOperator("POST", "/admin/provision-tunnel", { subject, name: "wild", hostname: wildcard })

      const services = (round: number) => ({
        shop: { to: dev.port, host_header: "origin" },
        api: {
          routes: [
            {
              path: "/v1/*",
              to: [`http://127.0.0.1:${portOf(one)}`, `http://127.0.0.1:${portOf(two)}`],
              strip_prefix: "/v1",
              health: { path: "/healthz", every: "1s" }
            },
            { path: "/catenet.test.*", to: `h2c://127.0.0.1:${grpcPort}` },
            { to: "file:./public" }
          ],
          rules: [
            { redirect: { from: "/old", to: "/v1/new", status: 308 } },
            { response_headers: { set: { "X-Round": String(round) } } }
          ]
        },
        steady: { to: portOf(one) },
        // Another origin at each reload.
        moving: { to: round % 2 === 0 ? portOf(one) : portOf(two) },
        secure: { to: `https://localhost:${portOf(secure)}`, ca: "origin-ca.pem" },
        socket: { to: `unix:${path("app.sock")}`, rules: [{ allow: ["127.0.0.0/8"] }] },
        wild: { host: wildcard, to: portOf(two), tls_certificate: "wild.pem", tls_key: "wild-key.pem" },
        ssh: { tcp: `127.0.0.1:${ssh.port}` },
        db: { tcp: `${database.hostname}:${database.port}`, tls: true },
        names: { udp: `127.0.0.1:${dns}` },
        tools: { mcp: `${process.execPath} ${mcpServer}`, mcp_public: true },
        // One that comes and goes.
        ...(round % 2 === 1 && { guest: { to: portOf(two) } })
      })
      const listen = `127.0.0.1:${yield* freePort("127.0.0.1")}`
      const write = (round: number) =>
        writeFileSync(
          path("ct-agent.yaml"),
          `control_plane: ${url}\nstatus_listen: ${listen}\nservices: ${JSON.stringify(services(round))}\n`
        )
      write(0)
      const agent = yield* running(at, ["--config", "ct-agent.yaml"])
      interface Shown {
        readonly name: string
        readonly state: string
        readonly url: string
        readonly reason?: string
      }
      const shown = async () =>
        ((await (await fetch(`http://${listen}/status`)).json()) as { services: ReadonlyArray<Shown> }).services
      const online = (count: number) =>
        Effect.promise(() =>
          eventually(
            async () => {
              const all = await shown().catch(() => [])
              return all.length === count && all.every(({ state }) => state === "online")
            },
            () => agent.lines.join("\n"),
            60_000
          )
        )
      const count = Object.keys(services(0)).length
      yield* online(count)
      const addresses = new Map((yield* Effect.promise(shown)).map(({ name, url }) => [name, url]))
      const hostOf = (name: string) => new URL(addresses.get(name) ?? "").hostname
      writeFileSync(path("zone.pem"), edge.wildcardRoot)
      writeFileSync(path("ours.pem"), ours.root)

      // curl, with the certificate checked.
      const curl = (host: string, target: string, ...more: ReadonlyArray<string>) =>
        output("curl", [
          "-sS",
          "--cacert",
          path(host.endsWith(".zone.test") ? "zone.pem" : "ours.pem"),
          "--connect-to",
          `::127.0.0.1:${edge.frontDoor}`,
          ...more,
          `https://${host}${target}`
        ])
      yield* Effect.promise(async () => {
        for (const version of ["--http1.1", "--http2"]) {
          assert.match(await curl(hostOf("api"), "/v1/x", version), /^(?:one|two) \/x /u)
          assert.strictEqual(await curl(hostOf("api"), "/", version), "a folder\n")
          assert.match(await curl(hostOf("api"), "/old", version, "-L"), /^(?:one|two) \/new /u)
          assert.match(await curl(hostOf("secure"), "/", version), /^secure \/ /u)
          assert.match(await curl(hostOf("socket"), "/", version), /^socket \/ /u)
          for (const name of ["app", "other"])
            assert.strictEqual(
              await curl(`${name}.dev.example.test`, "/", version),
              `two / ${name}.dev.example.test\n`,
              "a wildcard"
            )
        }
        assert.match(await curl(hostOf("api"), "/v1/x", "-D", "-"), /^x-round: 0\r$/imu)

        // ssh at a public port, dig over UDP, psql by TLS.
        const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
        const terms = ["-i", ssh.key, ...options.flatMap((option) => ["-o", option]), "-p", String(tcpPort)]
        assert.strictEqual(await output("ssh", [...terms, "root@127.0.0.1", "echo by ssh"]), "by ssh\n")
        const dig = ["+short", "+tries=5", "+time=2", "-p", String(udpPort), "@127.0.0.1", "www.ports.test"]
        // The edge opens the port as the agent is told that it is accepted; dig says what it tried before.
        await eventually(
          async () => /^192\.0\.2\.7$/mu.test(await output("dig", dig).catch(String)),
          "dig is answered",
          30_000
        )
        const by = Object.entries({
          host: hostOf("db"),
          hostaddr: "127.0.0.1",
          port: edge.frontDoor,
          dbname: database.pathname.slice(1),
          user: database.username,
          sslmode: "verify-full",
          sslrootcert: path("zone.pem")
        }).map((named) => named.join("="))
        const password = { PGPASSWORD: decodeURIComponent(database.password) }
        assert.strictEqual(await output("psql", ["-XAtq", by.join(" "), "-c", "select 6 * 7"], password), "42\n")

        // gRPC by a route, and MCP.
        const Echo = grpc.makeGenericClientConstructor({ Unary: unary }, "Echo")
        const client = new Echo(
          `127.0.0.1:${edge.frontDoor}`,
          grpc.credentials.createSsl(Buffer.from(edge.wildcardRoot)),
          {
            "grpc.ssl_target_name_override": hostOf("api"),
            "grpc.default_authority": hostOf("api")
          }
        )
        const answer = await new Promise<Buffer>((resolve, reject) =>
          client.Unary(Buffer.from("hello"), (error, value) => (error === null ? resolve(value) : reject(error)))
        )
        assert.strictEqual(answer.toString(), "hello")
        client.close()
        const tools = new Client({ name: "any", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } })
        const address = new URL(`https://${hostOf("tools")}/mcp`)
        await tools.connect(new StreamableHTTPClientTransport(address, { fetch: through(edge) }) as never)
        assert.isNotEmpty((await tools.listTools()).tools)
        await tools.close()
      })

      // A browser sees what is written into a file of Vite's folder, without a reload by hand.
      const browser = yield* Effect.acquireRelease(
        Effect.promise(() =>
          chromium.launch({
            executablePath: "/usr/bin/chromium",
            args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP *.zone.test 127.0.0.1"]
          })
        ),
        (opened) => Effect.promise(() => opened.close())
      )
      const page = yield* Effect.promise(async () => (await browser.newContext({ ignoreHTTPSErrors: true })).newPage())
      const socket = page.waitForEvent("websocket", { timeout: 60_000 })
      yield* Effect.promise(async () => {
        await page.goto(`https://${hostOf("shop")}:${edge.frontDoor}/`)
        await page.getByText("before", { exact: true }).waitFor()
        await socket
        // What is written before Vite's client has connected is not told to it.
        await eventually(
          async () => {
            dev.show("after")
            return (await page.getByText("after", { exact: true }).count()) > 0
          },
          "the page follows the file",
          30_000
        )
      })

      // Reloaded under load.
      const lost: Array<string> = []
      const load = { visits: 0, isOver: false }
      const visiting = async (host: string, target: string, expected: RegExp) => {
        while (!load.isOver) {
          const body = await curl(host, target).catch((error: unknown) => String(error))
          load.visits += 1
          if (!expected.test(body)) lost.push(`${host}${target}: ${body.trim()}`)
        }
      }
      const visitors = Promise.all([
        visiting(hostOf("steady"), "/", /^one \/ /u),
        visiting(hostOf("moving"), "/", /^(?:one|two) \/ /u),
        visiting(hostOf("api"), "/v1/x", /^(?:one|two) \/x /u),
        visiting("app.dev.example.test", "/", /^two \/ /u)
      ])
      for (let round = 1; round <= reloads; round++) {
        write(round)
        const reloaded = yield* ended(at, ["reload", "--config", "ct-agent.yaml"])
        assert.strictEqual(reloaded.code, 0, reloaded.stderr)
        yield* online(count + (round % 2))
        const before = load.visits
        yield* Effect.promise(() => eventually(() => load.visits > before + 8, "visits after the reload", 60_000))
      }
      load.isOver = true
      yield* Effect.promise(() => visitors)
      assert.deepStrictEqual(lost, [], agent.lines.slice(-50).join("\n"))
      yield* Effect.promise(async () => {
        // The page of Vite was open all the time.
        dev.show("at the end")
        await page.getByText("at the end", { exact: true }).waitFor()
        assert.match(await curl(hostOf("api"), "/v1/x", "-D", "-"), new RegExp(`^x-round: ${reloads}\r$`, "imu"))
      })
      process.stderr.write(`\n${load.visits} visits beside ${reloads} reloads, none lost\n`)
    })
  )

  it.effect.runIf(isWanted)("gives a service a public address that answers soon after ct-agent http has started", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const server = yield* served(createServer(saying("soon")))
      yield* login(at, "eve@example.test", [yield* TestServer.baseUrl])
      const took: Array<number> = []
      for (let run = 0; run < 5; run++)
        yield* Effect.gen(function* () {
          const began = performance.now()
          const agent = yield* running(at, ["http", String(portOf(server)), "--no-inspect"])
          yield* Effect.promise(async () => {
            await eventually(
              () => agent.stdout() !== "",
              () => agent.lines.join("\n"),
              60_000
            )
            const address = agent.stdout().trim()
            await eventually(
              async () => (await through(edge)(address).catch(() => undefined))?.status === 200,
              () => agent.lines.join("\n"),
              60_000
            )
          })
          took.push(Math.round(performance.now() - began))
        }).pipe(Effect.scoped)
      process.stderr.write(
        `\nct-agent http PORT, until its first answer: ${took.join(", ")} ms (the first makes the tunnel)\n`
      )
      assert.isBelow(Math.min(...took), firstAnswerMillis)
    })
  )
})
