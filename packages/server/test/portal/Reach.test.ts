import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import { until } from "@catenet/testing/Eventually"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { FactsEdge } from "../tunnels/records/FactsEdge.ts"
import { account, server, tunnel } from "../tunnels/records/FactsServer.ts"

type Reach = typeof Reachability.Encoded

const reach = (state: Reach["state"], more: Partial<Reach> = {}): Reach => ({
  state,
  since: 1_800_000_000,
  origin: null,
  fault: null,
  http_status: null,
  ...more
})
const since = "2027-01-15 08:00"
const service = "127.0.0.1:8080"

const visit = (sub: string, path: string, language = "en") =>
  Effect.gen(function* () {
    const headers = {
      ...(yield* headersOf({ session: sub, email: `${sub}@people.example` })),
      "accept-language": language
    }
    const response = yield* TestServer.raw(path, { headers })
    return yield* Effect.promise(() => response.text())
  })

const states: ReadonlyArray<readonly [Reach, kind: string, en: string, de: string]> = [
  [reach("up", { origin: service }), "up", english.reachUp(since), german.reachUp(since)],
  [reach("connected"), "connected", english.reachConnected, german.reachConnected],
  [
    reach("origin_silent", { origin: service, fault: "refused" }),
    "down",
    `Down since ${since}. The agent is connected; ${service} refuses connections.`,
    `Nicht erreichbar seit ${since}. Der Agent ist verbunden; ${service} lehnt Verbindungen ab.`
  ],
  [
    reach("origin_silent", { fault: "status", http_status: 503 }),
    "down",
    `Down since ${since}. The agent is connected; the service answers its health path with status 503.`,
    `Nicht erreichbar seit ${since}. Der Agent ist verbunden; der Dienst beantwortet den Pr\u00fcfpfad mit Status 503.`
  ],
  [reach("agent_silent"), "down", english.reachAgentSilent(since), german.reachAgentSilent(since)],
  [
    reach("agent_silent", { since: null }),
    "idle",
    english.reachAgentSilent(undefined),
    german.reachAgentSilent(undefined)
  ]
]

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("what pages say of a tunnel's state", (it) => {
  it.effect("names the part that is silent and since when, in both languages, on every page", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("rea", "cam")
      for (const [found, kind, en, de] of states) {
        yield* edge.tunnel(token, { connected: found.state !== "agent_silent", reach: found })
        for (const path of [`/portal/tunnels/${id}`, "/portal/tunnels", "/portal/fleet"]) {
          const page = yield* visit("rea", path)
          assert.include(page, `data-state="${kind}" data-tunnel="${id}"`, path)
          assert.include(page, en, path)
        }
        assert.include(yield* visit("rea", `/portal/tunnels/${id}`, "de"), de)
      }
    })
  )

  it.effect("says on the way of a request by which key exchange an agent that is there is connected", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("key", "cam")
      const cases = [
        [
          reach("up", { key_exchange: "x25519mlkem768" }),
          "Is connected. Key exchange with the edge: X25519 with ML-KEM-768 (post-quantum)."
        ],
        [
          reach("origin_silent", { key_exchange: "x25519" }),
          "Is connected. Key exchange with the edge: x25519, not post-quantum."
        ],
        [reach("up"), "<p>Is connected.</p>"]
      ] as const
      for (const [found, text] of cases) {
        yield* edge.tunnel(token, { connected: true, reach: found })
        assert.include(yield* visit("key", `/portal/tunnels/${id}`), text)
      }
      yield* edge.tunnel(token, { connected: false, reach: reach("agent_silent", { key_exchange: "x25519" }) })
      assert.notInclude(yield* visit("key", `/portal/tunnels/${id}`), "Key exchange")
    })
  )

  it.effect("says of an edge of before no more than whether an agent is connected", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("old", "cam")
      assert.include(yield* visit("old", `/portal/tunnels/${id}`), english.reachAgentSilent(undefined))
      yield* edge.tunnel(token, { connected: true })
      assert.include(yield* visit("old", `/portal/tunnels/${id}`), english.reachConnected)
    })
  )

  it.effect("keeps online in the fleet what the contract says: an agent is connected", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { token } = yield* tunnel("flo", "cam")
      yield* edge.tunnel(token, { connected: true, reach: reach("origin_silent", { fault: "refused" }) })
      const [row] = yield* (yield* account("flo")).tunnelRecords.fleet({ query: {} })
      assert.deepInclude(row, { online: true })
      assert.strictEqual(row?.reach.state, "origin_silent")
    })
  )

  it.effect("names an edge that is silent, and since when it has been", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("eve", "cam")
      yield* edge.tunnel(token, { connected: true, reach: reach("up") })
      assert.include(yield* visit("eve", `/portal/tunnels/${id}`), english.reachUp(since))
      yield* edge.away(true)
      const page = yield* visit("eve", `/portal/tunnels/${id}`)
      assert.include(page, `data-state="unknown"`)
      assert.match(page, /the edge has not responded since \d{4}-\d\d-\d\d \d\d:\d\d\./u)
      assert.include(yield* visit("eve", "/portal/tunnels"), english.edgeSilent)
      yield* edge.away(false)
    })
  )

  it.effect("turns green in an open page by itself", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("liv", "cam")
      yield* edge.tunnel(token, { connected: true, reach: reach("origin_silent", { fault: "refused" }) })
      const ending = new AbortController()
      yield* Effect.addFinalizer(() => Effect.sync(() => ending.abort()))
      const response = yield* TestServer.raw(`/portal/events?tunnels=${id}`, {
        headers: yield* headersOf({ session: "liv", email: "liv@people.example" }),
        signal: ending.signal
      })
      let text = ""
      void (async () => {
        for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) text += piece
      })().catch(() => undefined)
      const said = (state: string) =>
        until(
          Effect.sync(() => text),
          (text) => text.includes(`"state":"${state}"`)
        )
      yield* said("down")
      assert.notInclude(text, `"state":"up"`)
      yield* edge.tunnel(token, { connected: true, reach: reach("up") })
      yield* said("up")
      assert.include(text, english.reachUp(since))
    }).pipe(Effect.scoped)
  )
})
