import { onThisMachine } from "@catenet/testing/Promptness"
import { server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { openStream } from "./EventStream.ts"

const kim = person("live-kim")
const lou = person("live-lou")
const changed = "event: topology\ndata:\n\n"

const create = (...agents: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { body } = yield* ask(kim, "/me/topologies", {})
    const [id, net] = [String(body["id"]), String(body["net_uuid"])]
    for (const agent of agents) yield* ask(kim, `/me/topologies/${id}/agents`, { agent: keyOf(agent) })
    return { id, net }
  })

const versionIn = (path: string, headers: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, { headers: { accept: "text/html", ...headers } })
    const text = yield* Effect.promise(() => response.text())
    const [, follow = "", seen = ""] = /data-follow="([^"?]+\?(?:[^"]*&amp;)?seen=([0-9a-f]{16}))"/u.exec(text) ?? []
    assert.notStrictEqual(seen, "", path)
    return follow.replaceAll("&amp;", "&")
  })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("events of a topology", (it) => {
  it.effect("reach every open editor, from whichever replica, and only where something changed", () =>
    Effect.gen(function* () {
      const { id } = yield* create("live a", "live b")
      const share = yield* ask(kim, `/me/topologies/${id}/share`, { email: "live-lou@people.example" })
      assert.isBelow(share.status, 300)
      const onOther = yield* otherReplica
      const headers = yield* headersOf(kim)
      const follow = yield* versionIn(`/me/topologies/${id}/editor`, headers)
      const streams = [yield* openStream(follow, headers), yield* onOther(openStream(follow, headers))]
      for (const { status, type, until } of streams) {
        assert.deepStrictEqual([status, type], [200, "text/event-stream"])
        assert.strictEqual(yield* until(":\n\n"), ":\n\n")
      }
      // A page that is stale when it opens its stream is sent to read at once, and after that all is quiet.
      const stale = yield* openStream(`/portal/events?topology=${id}&seen=0`, headers)
      assert.include(yield* stale.until(changed), changed)
      const ends = { a: keyOf("live a"), b: keyOf("live b") }
      const changes: ReadonlyArray<readonly [string, unknown, RequestInit?]> = [
        ["edges", ends],
        ["agents", { agent: keyOf("live of lou") }],
        [`agents/${keyOf("live of lou")}/label`, { label: "attic" }, { method: "PUT" }],
        ["edges/channel", { ...ends, channel: null }, { method: "PUT" }],
        ["edges", ends, { method: "DELETE" }],
        [`agents/${keyOf("live of lou")}`, undefined, { method: "DELETE" }]
      ]
      for (const [part, body, more] of changes) {
        const from = performance.now()
        const { status } = yield* ask(lou, `/me/topologies/${id}/${part}`, body, more)
        assert.isBelow(status, 300, part)
        for (const { until } of streams) assert.include(yield* until(changed), changed, part)
        assert.isBelow(performance.now() - from, onThisMachine(2_000), part)
      }
      for (const [part, body, more] of [
        ["mode", { mode: "shortcut" }, { method: "PUT" }],
        ["share", { email: "live-max@people.example" }],
        ["share/live-max@people.example/remove", {}]
      ] as const) {
        assert.isBelow((yield* ask(kim, `/me/topologies/${id}/${part}`, body, more)).status, 300, part)
        for (const { until } of streams) assert.include(yield* until(changed), changed, part)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are for those who may see it, six at once for each session, and for everybody at its public address", () =>
    Effect.gen(function* () {
      const { id, net } = yield* create("live public")
      const unknown = "ab".repeat(16)
      const [mine, foreign] = [yield* headersOf(kim), yield* headersOf(lou)]
      const at = (topology: string) => `/portal/events?topology=${topology}`
      assert.strictEqual((yield* openStream(at(id))).status, 401)
      for (const path of [at(id), at(unknown), at("../x")])
        assert.strictEqual((yield* openStream(path, foreign)).status, 404, path)
      for (let n = 0; n < 6; n++) assert.strictEqual((yield* openStream(at(id), mine)).status, 200)
      assert.strictEqual((yield* openStream(at(id), mine)).status, 429)

      for (const other of [unknown, id, "x"])
        assert.strictEqual((yield* openStream(`/net/${other}/events`)).status, 404, other)
      const follow = yield* versionIn(`/net/${net}`, {})
      const visitor = yield* openStream(follow)
      assert.strictEqual(yield* visitor.until(":\n\n"), ":\n\n")
      yield* ask(kim, `/me/topologies/${id}/agents`, { agent: keyOf("live public 2") })
      assert.strictEqual(yield* visitor.until(changed), changed)
      for (let n = 1; n < 24; n++) assert.strictEqual((yield* openStream(`/net/${net}/events`)).status, 200)
      assert.strictEqual((yield* openStream(`/net/${net}/events`)).status, 429)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "reach a public page at another address when addresses that have as many as they may follow all there are",
    () =>
      Effect.gen(function* () {
        const { net } = yield* create("live crowd")
        const port = Number(new URL(yield* TestServer.baseUrl).port)
        const statusOf = (localAddress: string) =>
          Effect.acquireRelease(
            Effect.sync(() => connect({ host: "127.0.0.1", port, localAddress })),
            (socket) => Effect.sync(() => void socket.destroy())
          ).pipe(
            Effect.flatMap((socket) =>
              Effect.callback<string>((resume) => {
                socket
                  .on("error", () => undefined)
                  .once("data", (head: Buffer) => {
                    socket.resume()
                    resume(Effect.succeed(head.toString("latin1", 9, 12)))
                  })
                socket.write(`GET /net/${net}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`)
              })
            )
          )
        const crowd = Array.from({ length: 84 * 24 }, (_, n) => `127.0.1.${1 + (n % 84)}`)
        const statuses = yield* Effect.forEach(crowd, statusOf, { concurrency: 64 })
        assert.isAtLeast(statuses.filter((status) => status === "200").length, 2_000)
        assert.strictEqual(yield* statusOf("127.0.2.1"), "200")
      }).pipe(Effect.scoped)
  )

  it.effect("count the members of one's own noted channels, and of no others", () =>
    Effect.gen(function* () {
      const { id } = yield* create("live c", "live d")
      yield* ask(kim, `/me/topologies/${id}/share`, { email: "live-lou@people.example" })
      const channel = idOf("live counted")
      yield* ask(account("live-kim"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      const ends = { a: keyOf("live c"), b: keyOf("live d") }
      yield* ask(kim, `/me/topologies/${id}/edges`, ends)
      yield* ask(kim, `/me/topologies/${id}/edges/channel`, { ...ends, channel }, { method: "PUT" })
      const own = yield* openStream(`/portal/events?topology=${id}`, yield* headersOf(kim))
      const shared = yield* openStream(`/portal/events?topology=${id}`, yield* headersOf(lou))
      assert.include(yield* own.until("event: members"), `data: {"${channel}":0}`)
      yield* ask(account("live-kim"), `/me/channels/${channel}/members`, materialOf(channel, "live c"))
      assert.include(yield* own.until(`{"${channel}":1}`), "event: members")
      yield* ask(kim, `/me/topologies/${id}/mode`, { mode: "shortcut" }, { method: "PUT" })
      assert.notInclude(yield* shared.until(changed), "members")
    }).pipe(Effect.scoped)
  )
})
