/** What pages ask of the database: as much for many rows as for few, and nothing of each viewer while they are open and rest. */
import { until } from "@catenet/testing/Eventually"
import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { Statement } from "effect/sql"
import * as Addresses from "../../src/portal/Addresses.ts"
import { openStream } from "./EventStream.ts"

/** Every statement with the address of the request that it is for; none of what runs in the background. */
const seen: Array<{ readonly path: string | undefined; readonly text: string }> = []

const counting = Layer.succeed(Statement.CurrentTransformer, (self, _sql, fiber) =>
  Effect.sync(() => {
    const request = Context.getOption(fiber.context, HttpServerRequest.HttpServerRequest)
    const [text] = self.compile()
    seen.push({ path: Option.getOrUndefined(Option.map(request, ({ url }) => url)), text })
    return self
  })
)

const variables = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "rows-few,rows-many",
  CT_CP_OUTBOX_TICK_SECS: "1"
}

/** An account with so many rows of each kind. */
const filled = (name: string, count: number) =>
  Effect.gen(function* () {
    const [own, api] = [person(name), account(name)]
    const each = Array.from({ length: count }, (_, n) => `${name} ${n}`)
    const ids = yield* Effect.forEach(each, (called) =>
      Effect.map(ask(own, "/me/tunnels", { name: called }), ({ body }) => String(body["id"]))
    )
    const id = ids[0] ?? ""
    yield* ask(own, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
    const channel = idOf(name)
    yield* ask(api, "/me/channels", { channel, operator_pubkey: keyOf(name) })
    yield* ask(api, `/me/channels/${channel}/allowlist`, { email: `${name}@people.example` })
    yield* ask(own, `/portal/channels/${channel}/claim`, materialOf(channel, `${name} claimed`))
    const topologies = yield* Effect.forEach(each, () =>
      Effect.map(ask(own, "/me/topologies", {}), ({ body }) => ({
        id: String(body["id"]),
        net: String(body["net_uuid"])
      }))
    )
    const topology = topologies[0] ?? { id: "", net: "" }
    for (const word of each) {
      yield* ask(own, `/me/tunnels/${id}/grants`, { grantee: word.replaceAll(" ", "-") })
      yield* ask(own, `/me/tunnels/${id}/share-links`, { ttl: "1h" })
      yield* ask(api, "/me/channels", { channel: idOf(word), operator_pubkey: keyOf(name) })
      yield* ask(api, `/me/channels/${channel}/members`, materialOf(channel, word))
      yield* ask(api, `/me/channels/${channel}/allowlist`, { email: `${word.replaceAll(" ", ".")}@people.example` })
      yield* ask(own, `/me/topologies/${topology.id}/agents`, { agent: keyOf(word) })
      yield* ask(own, `/me/topologies/${topology.id}/edges`, { a: keyOf(each[0] ?? ""), b: keyOf(word) })
    }
    const minted = yield* ask(api, `/me/channels/${channel}/claim-invites`, materialOf(channel, `${name} invited`))
    return { id, ids, channel, topology, invite: String(minted.body["invite"]) }
  })

type Filled = Effect.Success<ReturnType<typeof filled>>

const opened = (as: As, path: string) =>
  Effect.gen(function* () {
    const headers = { accept: "text/html", ...(yield* headersOf(as)) }
    seen.length = 0
    const response = yield* TestServer.raw(path, { headers })
    yield* Effect.promise(() => response.text())
    assert.strictEqual(response.status, 200, path)
    return seen.filter((statement) => statement.path === path).length
  })

const addressOf = (path: string, { channel, id, invite }: Filled) =>
  path.replace(":id", id).replace(":channel", channel) + (path === "/portal/claim" ? `?invite=${invite}` : "")

/** Which edges live is remembered for a while, so that one page asks for it and the next one does not. */
const atMostCached = 1

/** Most statements of a page; of those that are not named here, six. */
const most: Readonly<Record<string, number>> = {
  "/portal/home": 9,
  "/portal/tunnels/:id": 22,
  "/portal/tunnels/:id/uptime": 7,
  "/portal/channels/:channel": 11,
  "/portal/account": 9,
  "/operators": 7,
  editor: 9
}

layer(server(variables).pipe(Layer.provide(counting)), { excludeTestServices: true, timeout: "60 seconds" })(
  "statements of pages",
  (it) => {
    it.effect("are as many for an account with many rows as for one with few, and no more than is written down", () =>
      Effect.gen(function* () {
        const few = yield* filled("rows-few", 1)
        const many = yield* filled("rows-many", 9)
        const found: Array<readonly [path: string, few: number, many: number, most: number]> = []
        const pages = [...Addresses.pages, ...Addresses.operatorPages].map(
          (path) => [path, (account: Filled) => addressOf(path, account)] as const
        )
        for (const [path, at] of [
          ...pages,
          ["editor", ({ topology }: Filled) => `/me/topologies/${topology.id}/editor`] as const,
          ["network", ({ topology }: Filled) => `/net/${topology.net}`] as const
        ])
          found.push([
            path,
            yield* opened(person("rows-few"), at(few)),
            yield* opened(person("rows-many"), at(many)),
            most[path] ?? 6
          ])
        const wrong = found.filter(
          ([, few, many, most]) => few === 0 || many > few + atMostCached || Math.max(few, many) > most + atMostCached
        )
        assert.deepStrictEqual(wrong, [])

        // Nothing is asked for those who look on: what runs in the background runs without them too.
        const [own] = many.ids
        const headers = yield* headersOf(person("rows-many"))
        const ticked = (count: number) =>
          until(
            Effect.sync(
              () =>
                seen.filter(({ text }) =>
                  /update alert_deliveries set leased_until/u.test(text.replaceAll(/\s+/gu, " "))
                ).length
            ),
            (ticks) => ticks >= count
          )
        seen.length = 0
        yield* ticked(4)
        const background = new Set(seen.map(({ text }) => text))
        // What a stream asks once, when it opens, is behind it with these words.
        for (const [path, opened] of [
          [`/portal/events?tunnels=${many.ids.join(",")}`, "\n"],
          [`/portal/events?tunnels=${many.ids.join(",")}`, "\n"],
          [`/portal/events?topology=${many.topology.id}&seen=x`, "event: topology"],
          [`/net/${many.topology.net}/events?seen=x`, "event: topology"]
        ] as const) {
          const stream = yield* openStream(path, headers)
          assert.strictEqual(stream.status, 200, path)
          yield* stream.until(opened)
        }
        /** What came again and again in four ticks, and does not without them. */
        const polled = Effect.gen(function* () {
          seen.length = 0
          yield* ticked(4)
          const texts = seen
            .filter(({ path, text }) => path !== undefined || !background.has(text))
            .map(({ text }) => text)
          return texts.filter((text, index) => texts.indexOf(text) !== index)
        })
        assert.deepStrictEqual(yield* polled, [])

        // Pages that show a certificate share one statement every two seconds.
        for (let n = 0; n < 3; n++) {
          const stream = yield* openStream(`/portal/events?tunnels=${own}&certificate=`, headers)
          yield* stream.until("\n")
        }
        const began = yield* Clock.currentTimeMillis
        const shared = yield* polled
        const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
        assert.isAtMost(shared.length, Math.ceil(seconds / 2))
      }).pipe(Effect.scoped)
    )
  }
)
