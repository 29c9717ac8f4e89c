/**
 * One agent with a service for each kind of origin, at both tiers, for visitors over HTTP/1.1 and HTTP/2: TLS with the origin's choice
 * of the HTTP version, sockets of the file system, folders, and services that refuse names they do not know.
 */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { startControlPlane } from "@catenet/testing/agent/ControlPlane"
import { mintPair, start, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { X509Certificate } from "node:crypto"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { request as requestHttp1 } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { WebSocket } from "ws"
import { freePort } from "../../src/Ports.ts"
import * as BothTiers from "./BothTiers.ts"
import type { Tier } from "./BothTiers.ts"
import { type Kind, kindsIn, passed } from "./OriginKinds.ts"

class Place extends Context.Service<
  Place,
  {
    readonly kinds: Readonly<Record<string, Kind>>
    readonly tiersOf: (kind: string) => ReadonlyArray<Tier>
    readonly logged: ReadonlyArray<string>
    readonly status: string
  }
>()("stack/test/proxy/OriginKinds/Place") {
  static readonly layer = Layer.effect(
    Place,
    Effect.gen(function* () {
      const world = yield* start()
      const plane = yield* Effect.acquireRelease(
        Effect.promise(() => startControlPlane(new X509Certificate(world.meshRoot).raw)),
        (running) => Effect.promise(() => running[Symbol.asyncDispose]())
      )
      plane.meshPort = world.mesh
      const folder = yield* temporaryFolder
      const { kinds, passing, unknown } = yield* kindsIn(folder)
      const routes = Object.entries(kinds).map(([kind, { options = "host_header: keep", to }]) => {
        const own = /^\d+$/u.test(to) ? `http://localhost:${to}` : to
        return `      - { path: /${kind}/*, strip_prefix: /${kind}, to: ["${own}"], ${options} }\n`
      })
      const names = [...Object.keys(kinds), "distrusted", "passed", "routed"]
      const hostOf = (kind: string, tier: string) => `${kind}-${tier}.zone.test`
      const own = mintPair(names.map((kind) => hostOf(kind, "own")))
      writeFileSync(join(folder, "own.pem"), own.cert)
      writeFileSync(join(folder, "own.key"), own.key)
      const status = yield* freePort("127.0.0.1")
      let services = ""
      for (const [n, kind] of names.entries())
        for (const [t, tier] of ["edge", "own"].entries()) {
          const token = (2 * n + t).toString(16).padStart(2, "0").repeat(32)
          const host = hostOf(kind, tier)
          yield* Effect.promise(() => world.authorize(token, host, ...(tier === "edge" ? (["gelb"] as const) : [])))
          const { options, to = `https://localhost:${kind === "passed" ? passing.port : unknown}` } = kinds[kind] ?? {}
          const tls =
            kind === "passed"
              ? ["tls: passthrough", `ca: ${passing.ca}`]
              : ["tls_certificate: own.pem", "tls_key: own.key"]
          const lines = [
            kind === "routed" ? `routes:\n${routes.join("")}` : `to: "${to}"`,
            `host: ${host}`,
            `token: "${token}"`,
            ...tls
          ]
          services += `  ${kind}-${tier}:\n${[...lines, ...(options === undefined ? [] : [options])].map((line) => `    ${line}\n`).join("")}`
        }
      writeFileSync(
        join(folder, "ct-agent.yaml"),
        `control_plane: ${plane.url}\nstatus_listen: 127.0.0.1:${status}\nservices:\n${services}`,
        {
          mode: 0o600
        }
      )
      const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (made) =>
        Effect.promise(() => made[Symbol.asyncDispose]())
      )
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() =>
          runAgent(home, { CT_AGENT_TRANSPORTS: "mux", CT_AGENT_STATE_DIR: join(home.path, "state") }, [
            "--config",
            join(folder, "ct-agent.yaml")
          ])
        ),
        (running) => Effect.promise(() => running[Symbol.asyncDispose]())
      )
      yield* Effect.promise(() =>
        BothTiers.eventually(
          () => agent.lines.filter((line) => line.includes("event: registered")).length >= 2 * names.length,
          "every service is registered"
        )
      )
      const tiersOf = (kind: string): ReadonlyArray<Tier> => {
        const common = { port: world.frontDoor, logged: agent.lines }
        return [
          { ...common, name: "edge-terminated", host: hostOf(kind, "edge"), ca: world.wildcardRoot },
          { ...common, name: "end-to-end", host: hostOf(kind, "own"), ca: kind === "passed" ? passed.root : own.root }
        ]
      }
      return { kinds, tiersOf, logged: agent.lines, status: `http://127.0.0.1:${status}/status` }
    })
  )
}

const overHttp1 = (tier: Tier, path = "/") =>
  Effect.flatMap(BothTiers.dial(tier, "http/1.1"), (socket) =>
    Effect.promise(async () => {
      const said: Array<string> = []
      // Twice on one connection.
      for (let n = 0; n < 2; n++) {
        const asked = requestHttp1({
          createConnection: () => socket,
          path,
          headers: { host: tier.host, connection: "keep-alive" }
        })
        asked.end()
        const [response] = (await once(asked, "response")) as [NodeJS.ReadableStream & { statusCode: number }]
        said.push(`${response.statusCode} ${await text(response)}`)
      }
      return said
    })
  )

const overHttp2 = (tier: Tier, path = "/") =>
  Effect.flatMap(BothTiers.dialHttp2(tier), (session) =>
    Effect.promise(() =>
      Promise.all(
        [1, 2].map(async () => {
          const stream = session.request({ ":path": path, ":authority": tier.host })
          const [fields] = (await once(stream, "response")) as [Readonly<Record<string, unknown>>]
          return `${String(fields[":status"])} ${await text(stream)}`
        })
      )
    )
  )

layer(Place.layer, { excludeTestServices: true, timeout: "120 seconds" })("an origin", (it) => {
  it.effect("of each kind answers both tiers over both versions, in the version that it chose", () =>
    Effect.gen(function* () {
      const { kinds, tiersOf } = yield* Place
      for (const [kind, { http, says, sees }] of Object.entries(kinds))
        for (const tier of tiersOf(kind))
          for (const ask of [overHttp1, overHttp2]) {
            const wanted = `200 ${says ?? `${sees(tier.host)} HTTP/${http} 127.0.0.1`}`
            assert.deepStrictEqual(yield* ask(tier), [wanted, wanted], `${kind}, ${tier.name}`)
          }
    }).pipe(Effect.scoped)
  )

  it.effect("of each kind is reached by a route of its own at one service", () =>
    Effect.gen(function* () {
      const { kinds, tiersOf } = yield* Place
      for (const tier of tiersOf("routed")) {
        for (const ask of [overHttp1, overHttp2])
          for (const [kind, { http, says, sees }] of Object.entries(kinds)) {
            const wanted = `200 ${says ?? `${sees(tier.host)} HTTP/${http} 127.0.0.1`}`
            assert.deepStrictEqual(yield* ask(tier, `/${kind}/`), [wanted, wanted], `${kind}, ${tier.name}`)
          }
        assert.match((yield* overHttp2(tier, "/unknown"))[1] ?? "", /^404 /u, tier.name)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("of each kind takes WebSockets", () =>
    Effect.gen(function* () {
      const { kinds, tiersOf } = yield* Place
      for (const [kind, { sees, sockets }] of Object.entries(kinds))
        for (const tier of sockets ? tiersOf(kind) : []) {
          const socket = new WebSocket(`wss://${tier.host}:${tier.port}/echo`, {
            ca: tier.ca,
            lookup: (_name, _options, done) => done(null, [{ address: "127.0.0.1", family: 4 }] as never),
            headers: { host: tier.host }
          })
          yield* Effect.promise(() => once(socket, "open"))
          for (const word of ["one", "two"]) {
            const answer = once(socket, "message")
            socket.send(word)
            const [data] = (yield* Effect.promise(() => answer)) as [Buffer]
            assert.strictEqual(String(data), `${sees(tier.host)} ${word}`, `${kind}, ${tier.name}`)
          }
          socket.close()
        }
    }).pipe(Effect.scoped)
  )

  it.effect(
    "to which TLS is passed ends it for visitors of the end-to-end tier, and is spoken to with TLS for the others",
    () =>
      Effect.gen(function* () {
        const { tiersOf } = yield* Place
        const said = yield* Effect.forEach(tiersOf("passed"), (tier) => Effect.all([overHttp1(tier), overHttp2(tier)]))
        const twice = (words: string) => [`200 ${words}`, `200 ${words}`]
        const ofEdge = twice("passed-edge.zone.test HTTP/2.0 127.0.0.1")
        const [own1, own2] = ["1.1", "2.0"].map((version) => twice(`passed-own.zone.test HTTP/${version} undefined`))
        assert.deepStrictEqual(said as unknown, [
          [ofEdge, ofEdge],
          [own1, own2]
        ])
      }).pipe(Effect.scoped)
  )

  it.effect("whose certificate is from an unknown authority is not asked, and the log says what to do", () =>
    Effect.gen(function* () {
      const { logged, status, tiersOf } = yield* Place
      for (const tier of tiersOf("distrusted")) assert.match((yield* overHttp2(tier))[0] ?? "", /^502 /u, tier.name)
      const line = logged.find((each) => each.includes("Name the authority"))
      assert.match(line ?? "", /origin https:\/\/localhost:\d+: .*certificate.*CT_AGENT_ORIGIN_INSECURE=1/u)
      const report = yield* Effect.promise(async () => (await fetch(status)).text())
      assert.match(report, /"name":"insecure-own"[^}]*"origin":"https:\/\/127.0.0.1:\d+ \(any certificate\)"/u)
      assert.isDefined(logged.find((each) => each.includes("accepts any certificate of https://127.0.0.1:")))
    }).pipe(Effect.scoped)
  )
})
