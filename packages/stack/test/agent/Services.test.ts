/**
 * One agent with a file of services, against a real control plane and edge.
 * One file, since all cases share the two and the ports that the edge offers.
 */
import { eventually } from "@catenet/testing/Eventually"
import { ready } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { createSocket } from "node:dgram"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import { ask } from "../gate/GateStack.ts"
import { AccountEdge, ended, home, login, publicPort, publicUdpPort, running, stack, tokenIn } from "./AccountStack.ts"

/** A local service that says its name; `/slow` is answered when `finish` is called. */
const origin = (name: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const slow = Promise.withResolvers<void>()
      const server = createServer((request, response) => {
        if (request.url === "/slow") {
          response.write("begun ")
          void slow.promise.then(() => response.end(`ended by ${name}`))
        } else response.end(name)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { port: (server.address() as AddressInfo).port, server, finish: () => slow.resolve() }
    }),
    ({ server }) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )

/** Answers each datagram with its text in capitals; the answer to a text that is sent until one comes. */
const udpOrigin = Effect.acquireRelease(
  Effect.promise(async () => {
    const socket = createSocket("udp4")
    socket.on("message", (datagram, { address, port }) => socket.send(datagram.toString().toUpperCase(), port, address))
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve))
    return socket
  }),
  (socket) => Effect.sync(() => void socket.close())
)

const answerOf = (port: number, text: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => createSocket("udp4")),
    (socket) =>
      Effect.promise(async () => {
        let answer: string | undefined
        socket.on("message", (datagram) => (answer = datagram.toString()))
        await eventually(async () => {
          socket.send(text, port, "127.0.0.1")
          return answer !== undefined
        }, "an answer")
        return answer
      }),
    (socket) => Effect.sync(() => void socket.close())
  )

interface Reported {
  readonly name: string
  readonly state: string
  readonly url: string | null
  readonly requests: number
}

layer(stack, { concurrent: true, excludeTestServices: true, timeout: "180 seconds" })("a file of services", (it) => {
  it.effect("is served by one process, with an address for each service that the next start keeps", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const listen = `127.0.0.1:${yield* freePort("127.0.0.1")}`
      const [one, two, three] = [yield* origin("one"), yield* origin("two"), yield* origin("three")]
      yield* login(at, "vera@example.test", [yield* TestServer.baseUrl])
      yield* ready
      const write = (services: Record<string, object>, more = "") =>
        writeFileSync(
          join(at.path, "ct-agent.yaml"),
          `status_listen: ${listen}\nstate_dir: state\n${more}services: ${JSON.stringify(services)}\n`
        )
      const args = ["--config", "ct-agent.yaml"]
      const services = Effect.promise(async () => {
        const response = await fetch(`http://${listen}/status`)
        return ((await response.json()) as { services: ReadonlyArray<Reported> }).services
      })
      const online = (...names: ReadonlyArray<string>) =>
        Effect.promise(() =>
          eventually(
            async () => {
              const found = await Effect.runPromise(Effect.catchCause(services, () => Effect.succeed([])))
              const up = found.filter(({ state }) => state === "online").map(({ name }) => name)
              return (
                up.length === found.length && names.every((name) => up.includes(name)) && up.length === names.length
              )
            },
            `online: ${names.join()}`,
            20_000
          )
        )
      const address = (name: string) =>
        Effect.map(services, (all) => all.find((each) => each.name === name)?.url ?? assert.fail(`no ${name}`))
      const visit = (url: string, path = "/") =>
        Effect.promise(async () => (await ask(edge, new URL(path, url).href)).text)

      write({ alpha: { to: one.port }, beta: { to: `http://127.0.0.1:${two.port}`, name: "second" } })
      const first = yield* running(at, args)
      yield* online("alpha", "beta")
      const [alpha, beta] = [yield* address("alpha"), yield* address("beta")]
      assert.match(alpha, /^https:\/\/alpha-[0-9a-f]{8}\.zone\.test\/$/u)
      assert.match(beta, /^https:\/\/second-[0-9a-f]{8}\.zone\.test\/$/u)
      assert.deepStrictEqual([yield* visit(alpha), yield* visit(beta)], ["one", "two"])

      // A second process would take the visitors of the first one.
      const double = yield* ended(at, args)
      assert.strictEqual(double.code, 3, double.stderr)
      assert.include(double.stderr, "another ct-agent serves")

      first.kill("SIGKILL")
      yield* Effect.promise(() => first.exited)
      const again = yield* running(at, [...args, "--inspect"])
      yield* online("alpha", "beta")
      assert.strictEqual(yield* address("alpha"), alpha)
      assert.notInclude(again.lines.join("\n"), "made the tunnel")
      assert.strictEqual(yield* visit(alpha), "one")
      const inspected = yield* ended(at, ["inspect", "--json", "--service", "alpha", ...args])
      const { requests } = JSON.parse(inspected.stdout) as {
        requests: ReadonlyArray<{ readonly service: string; readonly target: string }>
      }
      assert.isNotEmpty(requests, inspected.stderr)
      for (const { service, target } of requests) assert.deepStrictEqual([service, target], ["alpha", "/"])
      const shown = yield* ended(at, ["status", ...args])
      assert.match(shown.stdout, new RegExp(`^alpha +online +${alpha} +127\\.0\\.0\\.1:${one.port}|localhost`, "mu"))

      // A file with problems changes nothing.
      write({ alpha: { to: "nowhere" } })
      const faulty = yield* ended(at, ["reload", ...args])
      assert.strictEqual(faulty.code, 3)
      assert.include(faulty.stderr, "services.alpha.to is not a local service")
      again.kill("SIGHUP")
      yield* Effect.promise(() => again.said("was not applied; the services are as before"))
      assert.deepStrictEqual([yield* visit(alpha), yield* visit(beta)], ["one", "two"])

      // A visit of a changed service finishes, new ones reach the new origin, and the unchanged service does not notice.
      const slow = yield* Effect.forkChild(visit(alpha, "/slow"))
      yield* Effect.promise(() =>
        eventually(
          async () =>
            (await Effect.runPromise(services)).some(({ name, requests }) => name === "alpha" && requests >= 2),
          "the slow visit"
        )
      )
      write({
        alpha: { to: three.port },
        beta: { to: `http://127.0.0.1:${two.port}`, name: "second" },
        gamma: { to: one.port }
      })
      const applied = yield* ended(at, ["reload", ...args])
      assert.deepStrictEqual([applied.code, applied.stdout], [0, "added gamma; changed alpha\n"], applied.stderr)
      yield* Effect.promise(() =>
        eventually(async () => (await Effect.runPromise(visit(alpha))) === "three", "the new origin", 20_000)
      )
      one.finish()
      assert.strictEqual(yield* Fiber.join(slow), "begun ended by one")
      assert.strictEqual(again.lines.filter((line) => /event: registered.*service=beta/u.test(line)).length, 1)
      assert.strictEqual((yield* ended(at, ["reload", ...args])).stdout, "nothing has changed\n")

      // The account makes the same file: with what this one knows of local services it changes nothing.
      const file = yield* ended(at, ["export", ...args])
      writeFileSync(join(at.path, "ct-agent.yaml"), file.stdout)
      assert.strictEqual((yield* ended(at, ["reload", ...args])).stdout, "nothing has changed\n", file.stderr)
      const bare = yield* ended(at, ["export"])
      assert.match(bare.stderr, /set the local service \(to\) of: (?:(?:alpha|second|gamma)(?:, )?){3}$/u)
      writeFileSync(join(at.path, "bare.yaml"), bare.stdout)
      const open = yield* ended(at, ["check", "bare.yaml"])
      assert.strictEqual(open.code, 3)
      assert.match(open.stderr, /bare\.yaml:\d+:\d+: services\.second\.to is not a local service/u)

      // Twenty reloads under load: the origin of one service changes each time, and another service comes and goes.
      const over = new AbortController()
      const seen = new Map<string, number>()
      const visitors = [alpha, alpha, alpha, beta].map((url) =>
        Effect.gen(function* () {
          while (!over.signal.aborted) {
            const { status, text } = yield* Effect.promise(() => ask(edge, url))
            const answer = status === 200 ? text : `${status} ${text.slice(0, 80)}`
            seen.set(answer, (seen.get(answer) ?? 0) + 1)
          }
        })
      )
      const load = yield* Effect.forkChild(Effect.all(visitors, { concurrency: "unbounded", discard: true }))
      for (let round = 0; round < 20; round++) {
        const from = again.lines.length
        const second = { to: `http://127.0.0.1:${two.port}`, name: "second" }
        const extra = round % 2 === 0 ? {} : { gamma: { to: one.port } }
        write({ alpha: { to: round % 2 === 0 ? one.port : three.port }, beta: second, ...extra })
        again.kill("SIGHUP")
        yield* Effect.promise(() => again.said("applied ct-agent.yaml: ", from))
        // The next one comes when the changed service is registered and the one before has been left.
        yield* Effect.promise(() => again.said("event: registered", from))
        yield* Effect.promise(() => eventually(() => (seen.get("two") ?? 0) > round, "a visit in each round"))
      }
      over.abort()
      yield* Fiber.join(load)
      assert.sameMembers([...seen.keys()], ["one", "two", "three"], JSON.stringify([...seen]))

      again.kill("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => again.exited), 0, again.lines.join("\n"))
    })
  )

  it.effect("has its rules applied, and keeps those that were set elsewhere", () =>
    Effect.gen(function* () {
      const at = yield* home
      const edge = yield* AccountEdge
      const one = yield* origin("one")
      const base = yield* TestServer.baseUrl
      yield* login(at, "olga@example.test", [base])
      yield* ready
      const args = ["--config", "ct-agent.yaml"]
      const write = (rules: ReadonlyArray<object>) =>
        writeFileSync(
          join(at.path, "ct-agent.yaml"),
          `state_dir: state\nservices: ${JSON.stringify({ ruled: { to: one.port, name: "file", rules } })}\n`
        )
      const api = async <A>(path: string, rules?: ReadonlyArray<object>) => {
        const headers = { authorization: `Bearer ${tokenIn(at.path)}`, "content-type": "application/json" }
        const put = { method: "PUT", body: JSON.stringify({ rules }) }
        return (await (await fetch(`${base}${path}`, { headers, ...(rules && put) })).json()) as A
      }
      const stamp = (value: string) => ({ response_headers: { set: { "X-Stamp": value } } })
      const elsewhere = { max_body: "1 MiB" }
      write([stamp("a")])
      const first = yield* running(at, args)
      yield* Effect.promise(() => first.said("event: registered"))
      const own = yield* Effect.promise(async () => {
        const all = await api<ReadonlyArray<{ id: string; name: string; hostname: string }>>("/me/tunnels")
        return all.find(({ name }) => name === "file") ?? assert.fail("no tunnel")
      })
      const path = `/me/tunnels/${own.id}/rules`
      const has = (rules: ReadonlyArray<object>) =>
        Effect.promise(() =>
          eventually(
            async () => JSON.stringify((await api<{ rules: unknown }>(path)).rules) === JSON.stringify(rules),
            `the rules ${JSON.stringify(rules)}`,
            12_000
          )
        )
      const stamped = (value: string | undefined) =>
        Effect.promise(() =>
          eventually(
            async () => (await ask(edge, `https://${own.hostname}/`)).headers["x-stamp"] === value,
            `the stamp ${value}`,
            12_000
          )
        )
      yield* has([stamp("a")])
      yield* stamped("a")

      yield* Effect.promise(() => api(path, [elsewhere, stamp("a")]))
      write([stamp("b")])
      assert.strictEqual((yield* ended(at, ["reload", ...args])).stdout, "changed ruled\n")
      yield* has([stamp("b"), elsewhere])
      yield* stamped("b")

      // What was taken away elsewhere is there again after a start.
      first.kill("SIGTERM")
      yield* Effect.promise(() => first.exited)
      yield* Effect.promise(() => api(path, [elsewhere]))
      yield* running(at, args)
      yield* has([stamp("b"), elsewhere])
      write([])
      yield* ended(at, ["reload", ...args])
      yield* has([elsewhere])
      yield* stamped(undefined)
      assert.match(
        (yield* ended(at, ["export"])).stdout,
        /^ {2}file:\n {4}to: #.*\n {4}rules:\n {6}- max_body: 1 MiB$/mu
      )
    })
  )

  it.effect("gives its tcp and udp services the public ports that they keep, beside services with host names", () =>
    Effect.gen(function* () {
      const at = yield* home
      const [tcpPort, udpPort] = [yield* publicPort, yield* publicUdpPort]
      const [one, echo] = [yield* origin("one"), yield* udpOrigin]
      yield* login(at, "olga@example.test", [yield* TestServer.baseUrl])
      yield* ready
      const listen = `127.0.0.1:${yield* freePort("127.0.0.1")}`
      const args = ["--config", "ct-agent.yaml"]
      const write = (services: Record<string, object>) =>
        writeFileSync(
          join(at.path, "ct-agent.yaml"),
          `status_listen: ${listen}\nstate_dir: state\ndefaults: { tls: terminate }\nservices: ${JSON.stringify(services)}\n`
        )
      const both = { raw: { tcp: one.port }, dns: { udp: `127.0.0.1:${echo.address().port}`, port: udpPort } }
      const served = Effect.promise(async () => {
        const text = () => fetch(`http://127.0.0.1:${tcpPort}/`).then((response) => response.text())
        await eventually(
          () =>
            text().then(
              (got) => got === "one",
              () => false
            ),
          "the TCP port",
          20_000
        )
        assert.strictEqual(await Effect.runPromise(answerOf(udpPort, "echo")), "ECHO")
      })
      write({ ...both, web: { to: one.port } })
      const first = yield* running(at, args)
      yield* served
      const shown = yield* ended(at, ["status", ...args])
      assert.match(
        shown.stdout,
        new RegExp(`^raw +online +tcp://tcp\\.zone\\.test:${tcpPort} +localhost:${one.port} +[1-9]\\d* requests$`, "mu")
      )
      assert.match(shown.stdout, new RegExp(`^dns +online +udp://udp\\.zone\\.test:${udpPort} +127`, "mu"))
      const { stdout: exported } = yield* ended(at, ["export"])
      assert.match(exported, new RegExp(`^  dns:\n    udp: #.*\n    port: ${udpPort}$`, "mu"))

      // What the account has under the name is served as it is.
      write({ ...both, web: { tcp: one.port }, other: { udp: 1, port: udpPort - 1 || 2, name: "dns" } })
      const doubled = yield* ended(at, ["reload", ...args])
      assert.include(doubled.stderr, "services.other.name is the tunnel dns, which the service dns has")
      write({ ...both, dns: { ...both.dns, port: tcpPort }, web: { tcp: one.port } })
      assert.strictEqual((yield* ended(at, ["reload", ...args])).stdout, "changed dns, web\n")
      yield* Effect.promise(() =>
        first.said("Your tunnel web is of kind http, not tcp. Set another name of the service.")
      )
      yield* Effect.promise(() => first.said(`Your tunnel dns has port ${udpPort}, which it keeps. Remove port, or`))
      assert.strictEqual(
        yield* Effect.promise(() => fetch(`http://127.0.0.1:${tcpPort}/`).then((got) => got.text())),
        "one"
      )

      first.kill("SIGTERM")
      yield* Effect.promise(() => first.exited)
      write(both)
      const again = yield* running(at, args)
      yield* served
      assert.notInclude(again.lines.join("\n"), "made the tunnel")
    })
  )
})
