/** `ct-agent expose`, against a real control plane and edge: by pipes as scripts run it, and on a terminal as people do. */
import { runAgent } from "@catenet/testing/agent/Agent"
import { hasTerminals, onTerminal } from "@catenet/testing/agent/Terminal"
import { eventually } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Agent from "../../../agent/src/Agent.ts"
import * as expose from "../../../agent/src/commands/expose.ts"
import { serve } from "../../../agent/src/promise.ts"
import { freePort } from "../../src/Ports.ts"
import { ask } from "../gate/GateStack.ts"
import { AccountEdge, ended, home, login, running, stack, tokenIn } from "./AccountStack.ts"

if (!hasTerminals) process.stderr.write("\nSKIPPED: a terminal for expose needs Linux and util-linux's script.\n\n")

/** A local service that says what it was asked for. */
const origin = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((request, response) => response.end(`asked for ${request.url}`))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { port: (server.address() as AddressInfo).port, server }
  }),
  ({ server }) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
)

layer(stack, { concurrent: true, excludeTestServices: true, timeout: "120 seconds" })("ct-agent expose", (it) => {
  it.effect("exposes a port by one command, gets the same address the next time, and leaves nothing with --rm", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const url = yield* TestServer.baseUrl
      const { port } = yield* origin
      assert.strictEqual((yield* ended(at, ["expose", String(port)])).code, 3)
      yield* login(at, "vera@example.test", [url])
      yield* ready

      const visit = (address: string, path: string) =>
        Effect.promise(async () => (await ask(edge, new URL(path, address).href)).text)
      /** Exposes until it has been visited; what it printed. */
      const exposed = (args: ReadonlyArray<string>, signal: NodeJS.Signals = "SIGINT") =>
        Effect.gen(function* () {
          const agent = yield* running(at, [args.includes("--qr") ? "expose" : "http", String(port), ...args])
          const isPrinted = Effect.promise(() =>
            eventually(async () => agent.stdout() !== "", "an address", 12_000).catch(() => {})
          )
          const isOver = Effect.promise(() => agent.exited)
          yield* Effect.raceFirst(isPrinted, isOver)
          const address = agent.stdout().trim()
          assert.notStrictEqual(address, "", agent.lines.join("\n"))
          assert.strictEqual(yield* visit(address, "/a?b"), "asked for /a?b", agent.lines.join("\n"))
          agent.kill(signal)
          const code = yield* isOver
          return { address, code, lines: agent.lines.join("\n") }
        }).pipe(Effect.scoped)

      const first = yield* exposed(["--qr", "--control-plane", url])
      assert.strictEqual(first.code, 0, first.lines)
      assert.match(first.address, new RegExp(`^https://[a-z0-9-]+-${port}-[0-9a-f]{8}\\.zone\\.test/$`, "u"))
      assert.include(first.lines, "▄")
      assert.include(first.lines, "the same command serves it again")
      const killed = yield* exposed([], "SIGKILL")
      assert.strictEqual(killed.address, first.address)
      for (const absent of ["made the tunnel", "enrolled agent", "▄"]) assert.notInclude(killed.lines, absent)

      const listed = yield* ended(at, ["tunnels"])
      const host = new URL(first.address).hostname
      assert.match(listed.stdout, new RegExp(`^[0-9a-f]{32} {2}\\w+ +\\S+-${port} {2}${host}\n$`, "u"))

      // The tokens of the folder are no good any more: it gets others.
      const [id = ""] = listed.stdout.split(" ")
      const { tunnels } = yield* TestServer.clientAs({ bearer: tokenIn(at.path) })
      yield* tunnels.rotateToken({ headers: {}, params: { id: id as never } })
      const last = yield* exposed(["--rm"])
      assert.strictEqual(last.code, 0, last.lines)
      assert.strictEqual(last.address, first.address)
      assert.include(last.lines, "deleted the tunnel")
      assert.strictEqual((yield* ended(at, ["tunnels"])).stdout, "")
      const left = readdirSync(join(at.path, ".ct-agent", "exposed"))
      assert.deepStrictEqual(
        left.filter((name) => !name.endsWith(".lock")),
        []
      )

      // A name below the zone is the platform's to give, and the login is asked for by the edge.
      const gated = yield* running(at, ["http", String(port), "--name", "desk", "--host", "desk.zone.test", "--login"])
      yield* Effect.promise(() => eventually(async () => gated.stdout() !== "", "an address", 12_000))
      assert.strictEqual(gated.stdout(), "https://desk.zone.test/\n")
      const { status } = yield* Effect.promise(() => ask(edge, gated.stdout().trim()))
      assert.include([302, 303], status)
      const wrong = yield* ended(at, ["http", String(port), "--name", "desk", "--host", "other.zone.test"])
      assert.strictEqual(wrong.code, 2)
      gated.kill()
      yield* Effect.promise(() => gated.exited)
      const reserved = yield* ended(at, ["http", String(port), "--name", "desk", "--host", "zone.test"])
      assert.strictEqual(reserved.code, 4)
      assert.include(reserved.stderr, "The host name zone.test cannot be used for a tunnel")
      const other = yield* running(at, ["http", String(port), "--name", "desk", "--host", "other.zone.test"])
      yield* Effect.promise(() => eventually(async () => other.stdout() !== "", "an address", 12_000))
      assert.strictEqual(other.stdout(), "https://other.zone.test/\n")
      other.kill()
      yield* Effect.promise(() => other.exited)
      const file = yield* ended(at, ["export"])
      const kept = `    to: localhost:${port}\n    host_header: origin\n    host: other.zone.test\n`
      assert.include(file.stdout, `services:\n  desk:\n${kept}`)
      for (const bad of [
        ["--control-plane", "portal"],
        ["--host", "a..b"]
      ])
        assert.strictEqual((yield* ended(at, ["http", String(port), ...bad])).code, 2, bad.join(" "))
      assert.strictEqual((yield* ended(at, ["tunnel", "delete", "desk"])).code, 0)

      // A development server that starts late and answers to no name but its own.
      const latePort = yield* freePort("127.0.0.1")
      const late = yield* running(at, ["http", String(latePort), "--name", "late", "--rm"])
      yield* Effect.promise(() => late.said(`nothing listens at localhost:${latePort} yet`))
      yield* Effect.acquireRelease(
        Effect.sync(() => createServer(({ headers }, to) => to.end(headers.host)).listen(latePort, "127.0.0.1")),
        (server) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
      )
      yield* Effect.promise(() => late.said(`the service at localhost:${latePort} answers now`))
      yield* Effect.promise(() => eventually(async () => late.stdout() !== "", "an address", 12_000))
      assert.strictEqual(yield* visit(late.stdout().trim(), "/"), `localhost:${latePort}`)
      assert.include(late.lines.join("\n"), `the service gets the Host header localhost:${latePort};`)

      mkdirSync(join(at.path, "public"))
      writeFileSync(join(at.path, "public", "index.html"), "a folder")
      const site = yield* running(at, ["files", "public", "--name", "site", "--rm"])
      yield* Effect.promise(() => eventually(async () => site.stdout() !== "", "an address", 12_000))
      assert.strictEqual(yield* visit(site.stdout().trim(), "/"), "a folder")
      for (const bad of [
        ["files", "absent"],
        ["http", String(port), "--ca", "ca.pem"]
      ])
        assert.strictEqual((yield* ended(at, bad)).code, 3, bad.join(" "))

      const made = yield* ended(at, ["tunnel", "create", "camera"])
      const printed = /^id {7}= [0-9a-f]{32}\nhostname = (camera-[0-9a-f]{8}\.zone\.test)\n$/
      const [, hostname = ""] = printed.exec(made.stdout) ?? []
      assert.notStrictEqual(hostname, "", made.stdout)
      assert.strictEqual((yield* ended(at, ["tunnel", "delete", "other"])).code, 4)
      assert.strictEqual((yield* ended(at, ["tunnel", "delete", hostname])).code, 0)
    })
  )

  it.effect("applies the rules of its flags, which stay until other flags replace them", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const { port } = yield* origin
      yield* login(at, "olga@example.test", [yield* TestServer.baseUrl])
      yield* ready
      const ruled = ["http", String(port), "--name", "ruled"]
      const password = { authorization: `Basic ${Buffer.from("ada:correct horse").toString("base64")}` }
      /** Serves with these flags until visitors get this. */
      const serves = (flags: ReadonlyArray<string>, input: string, headers: Record<string, string>, wanted: string) =>
        Effect.gen(function* () {
          const agent = yield* Effect.acquireRelease(
            Effect.sync(() => runAgent(at, {}, [...ruled, ...flags], input)),
            (one) => Effect.promise(() => one[Symbol.asyncDispose]())
          )
          yield* Effect.promise(() => eventually(async () => agent.stdout() !== "", "an address", 12_000))
          const got = async () => {
            const answer = await ask(edge, agent.stdout().trim(), headers)
            return `${answer.status} ${String(answer.headers["x-stamp"])}`
          }
          yield* Effect.promise(() => eventually(async () => (await got()) === wanted, wanted, 12_000))
        }).pipe(Effect.scoped)
      const flags = ["--basic-auth", "ada", "--allow", "127.0.0.0/8,::1"]
      const stamp = ["--rule", "response_headers: { set: { X-Stamp: seen } }"]
      yield* serves([...flags, ...stamp], "correct horse\n", password, "200 seen")
      yield* serves([], "", {}, "401 undefined")
      yield* serves(["--rule", "max_body: 1 MiB"], "", {}, "200 undefined")
      yield* serves(["--allow", "192.0.2.0/24"], "", {}, "403 undefined")
      assert.include((yield* ended(at, ["export"])).stdout, "    rules:\n      - allow:\n          - 192.0.2.0/24\n")
      for (const [args, why] of [
        [[...ruled, "--basic-auth", "ada:hunter2"], "--basic-auth takes no password"],
        [[...ruled, "--allow", "10.0.0.1/8"], "--allow needs an address range"],
        [[...ruled, "--rule", "max_bdy: 1"], "--rule has max_bdy, which no rule has"],
        [[...ruled, "--rule", "mtls: { ca: a.pem }"], "--rule needs a supported rule"],
        [[...ruled, "--rule", "basic_auth: { file: absent }"], "--rule names absent, which cannot be read"],
        [["tcp", "22", "--host", "ssh.example.net"], "--host needs --tls"]
      ] as const) {
        const { code, stderr } = yield* ended(at, args)
        assert.strictEqual(code, 2, stderr)
        assert.include(stderr, why)
        assert.notInclude(stderr, "hunter2")
      }
    })
  )

  it.effect(
    "serves a handler of a program without a port: of Fetch, Node and Effect, until its scope or signal ends it",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const edge = yield* AccountEdge
        const controlPlane = yield* TestServer.baseUrl
        yield* login(at, "olga@example.test", [controlPlane])
        yield* ready
        const options = (name: string) => ({
          controlPlane,
          name,
          credentials: { token: tokenIn(at.path) },
          stateDir: join(at.path, "library")
        })
        const visit = (url: string, path = "/a?b") => Effect.promise(() => ask(edge, new URL(path, url).href))
        const inFetch = yield* Agent.serve(async (request) => {
          const { host, pathname, search } = new URL(request.url)
          return new Response(`${request.method} ${host}${pathname}${search}`, { status: 201 })
        }, options("fetched"))
        const inEffect = yield* Agent.serve(
          HttpServerRequest.HttpServerRequest.use(({ url }) =>
            Effect.succeed(HttpServerResponse.text(`effect ${url}`))
          ),
          options("effects")
        )
        const listener: RequestListener = (request, response) =>
          void response.end(`node ${request.headers.host}${request.url}`)
        const aborting = new AbortController()
        const inNode = yield* Effect.promise(() =>
          serve(listener, {
            ...options("nodes"),
            signal: aborting.signal
          })
        )
        const first = yield* visit(inFetch.url)
        assert.deepStrictEqual([first.status, first.text], [201, `GET ${inFetch.hostname}/a?b`])
        assert.strictEqual((yield* visit(inEffect.url)).text, "effect /a?b")
        assert.strictEqual((yield* visit(inNode.url)).text, `node ${inNode.hostname}/a?b`)
        aborting.abort()
        yield* Effect.promise(() => inNode.ended)
        assert.notStrictEqual((yield* visit(inNode.url)).status, 200)
        const { url } = yield* Effect.scoped(Agent.serve(() => new Response("again"), options("nodes")))
        assert.strictEqual(url, inNode.url, "the address is kept")
        const again = yield* Effect.flip(Agent.serve(() => new Response("twice"), options("fetched")))
        assert.strictEqual(again._tag, "UsageWrong")
      })
  )

  it.effect.skipIf(!hasTerminals)(
    "on a terminal shows a QR code and counts requests while they come; Ctrl-C leaves the address, and with --rm nothing",
    () =>
      Effect.gen(function* () {
        const at = yield* home
        const edge = yield* AccountEdge
        const { port } = yield* origin
        yield* login(at, "eve@example.test", [yield* TestServer.baseUrl])
        yield* ready
        const visit = (address: string) => ask(edge, new URL("/a", address).href)
        const session = async (more: ReadonlyArray<string>, visits: number) => {
          await using terminal = onTerminal(at, ["expose", String(port), "--name", "desk", ...more])
          await terminal.shows(/https:\/\/desk-[0-9a-f]{8}\.zone\.test\/\r?\n/u)
          const [address = ""] = /https:\/\/desk-[0-9a-f]{8}\.zone\.test\//u.exec(terminal.written()) ?? []
          for (const line of expose.lines(address)) assert.include(terminal.written(), `${line}\r\n`)
          await terminal.shows(/ct-agent online \| 0 requests \| \S+ \S+ in, /u)
          for (let count = 1; count <= visits; count++) {
            const from = terminal.written().length
            assert.strictEqual((await visit(address)).text, "asked for /a")
            // The line is written over: a carriage return, and no new line.
            await terminal.shows(new RegExp(`\\r\\u001b\\[Kct-agent online \\| ${count} requests? \\|`, "u"), from)
          }
          const from = terminal.written().length
          terminal.type("\u0003")
          const code = await terminal.exited
          return { address, code, last: terminal.written().slice(from) }
        }
        const first = yield* Effect.promise(() => session([], 2))
        assert.strictEqual(first.code, 0, first.last)
        assert.match(first.last, /ct-agent stopped \| 2 requests \|/u)
        assert.include(first.last, "the same command serves it again")
        assert.include((yield* ended(at, ["tunnels"])).stdout, new URL(first.address).hostname)
        const second = yield* Effect.promise(() => session(["--rm"], 1))
        assert.deepStrictEqual([second.code, second.address], [0, first.address], second.last)
        assert.match(second.last, /ct-agent stopped \| 1 request \|/u)
        assert.include(second.last, "deleted the tunnel desk")
        assert.strictEqual((yield* ended(at, ["tunnels"])).stdout, "")
      })
  )
})
