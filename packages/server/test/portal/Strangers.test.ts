/** What visitors and other accounts are shown: valid pages in both languages, and nothing of what is not theirs. */
import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { personAt } from "./PersonAtForms.ts"

const zone = { CT_GATE_COOKIE_DOMAIN: "zone.example", CT_CP_HOSTNAME_ZONE: "zone.example" }
const ann = person("strange-ann")

const gated = Effect.fnUntraced(function* (name: string) {
  const { body } = yield* ask(ann, "/me/tunnels", { name })
  const id = String(body["id"])
  yield* ask(ann, `/me/tunnels/${id}`, { require_login: true }, { method: "PATCH" })
  return { id, host: String(body["hostname"]) }
})

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("a stranger", (it) => {
  it.effect("reads valid pages at the gate, at share links, at the sign-in and at errors, in both languages", () =>
    Effect.gen(function* () {
      const { host, id } = yield* gated("visited")
      const link = yield* ask(ann, `/me/tunnels/${id}/share-links`, { ttl: "1h", single_use: true })
      const { pathname, search } = new URL(String(link.body["url"]))
      const pages: ReadonlyArray<readonly [path: string, status: number, form?: string]> = [
        ["/", 200],
        ["/portal", 200],
        ["/join", 200],
        ["/portal/login", 503],
        ["/portal/callback", 503],
        ["/portal/nowhere", 404],
        [pathname + search, 200],
        [`/gate/share?host=${host}&token=x`, 403],
        ["/gate/share?host=nowhere.example&token=x", 404],
        [`/gate/request-access?host=${host}`, 200],
        ["/gate/request-access?host=nowhere.example", 404],
        ["/gate/start?host=nowhere.example", 503],
        ["/gate/callback", 503],
        ["/gate/request-access", 400, `host=${host}&email=none&note=%3Cb%3E`],
        ["/gate/request-access", 200, `host=${host}&email=a%40b.example`],
        ["/gate/share", 403, `host=${host}&token=x`]
      ]
      for (const [path, status, form] of pages)
        for (const language of ["en", "de"]) {
          const headers = { accept: "text/html", "accept-language": language }
          const sent = { "content-type": "application/x-www-form-urlencoded", ...headers }
          const response = yield* TestServer.raw(
            path,
            form === undefined ? { headers } : { method: "POST", headers: sent, body: form }
          )
          const text = yield* Effect.promise(() => response.text())
          const about = `${path} ${language}`
          assert.strictEqual(response.status, status, about)
          assert.include(text, `<html lang="${language}">`, about)
          assert.deepStrictEqual(invalidities(text), [], about)
        }
    })
  )

  it.effect("of another account finds what is not there: sessions, service accounts, links, editors", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("foreign")
      yield* ask(ann, `/me/tunnels/${id}/share-links`, { ttl: "1h" })
      const links = yield* ask(ann, `/me/tunnels/${id}/share-links`)
      const link = (links.body as unknown as ReadonlyArray<{ readonly id: string }>)[0]?.id ?? ""
      const topology = String((yield* ask(ann, "/me/topologies", {})).body["id"])
      const own = yield* personAt(ann)
      yield* personAt(ann)
      const session = /sessions\/([^/"]+)\/end/u.exec((yield* own.get("/portal/account")).text)?.[1] ?? ""
      assert.notStrictEqual(session, "")
      const bob = yield* personAt(person("strange-bob"))
      const bobs = String((yield* ask(person("strange-bob"), "/me/tunnels", { name: "bob" })).body["id"])
      const none = "0".repeat(32)
      const same = [
        [bob.post(`/portal/account/sessions/${session}/end`, {}), bob.post(`/portal/account/sessions/${none}/end`, {})],
        [
          bob.post(`/portal/tunnels/${bobs}/share-links/${link}/revoke`, {}),
          bob.post(`/portal/tunnels/${bobs}/share-links/${none}/revoke`, {})
        ],
        [bob.get(`/me/topologies/${topology}/editor`), bob.get(`/me/topologies/${none}/editor`)]
      ] as const
      for (const [theirs, nothing] of same) {
        const [foreign, unknown] = [yield* theirs, yield* nothing]
        assert.strictEqual(foreign.status, 404)
        assert.deepStrictEqual(foreign, unknown)
      }
      assert.include((yield* own.get("/portal/account")).text, session)
    })
  )

  it.effect("whom a tunnel is shared with finds the line for an agent and no panel of the owner", () =>
    Effect.gen(function* () {
      const { id } = yield* gated("shared")
      yield* ask(ann, `/me/tunnels/${id}/grants`, { grantee: "strange-gus" })
      const gus = yield* personAt(person("strange-gus"))
      const [, main = ""] = (yield* gus.get(`/portal/tunnels/${id}`)).text.split("<main")
      const actions = [...main.matchAll(/action="([^"]+)"/gu)].map(([, action]) => action)
      assert.deepStrictEqual(actions, [`/portal/tunnels/${id}/install`])
      for (const part of ["grants", "rotate-token", "delete", "uptime"])
        assert.strictEqual((yield* gus.get(`/portal/tunnels/${id}/${part}`)).status, 404, part)
    })
  )

  it.effect("and another one take one invite at once: one is a member, the other reads that it is spent", () =>
    Effect.gen(function* () {
      const channel = idOf("strange")
      yield* ask(account("strange-op"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
      const minted = yield* ask(
        account("strange-op"),
        `/me/channels/${channel}/claim-invites`,
        materialOf(channel, "strange")
      )
      const invite = String(minted.body["invite"])
      const [one, other] = [yield* personAt(person("strange-one")), yield* personAt(person("strange-other"))]
      const taken = yield* Effect.all(
        [one, other].map(({ post }) => post("/portal/claim/confirm", { invite })),
        { concurrency: 2 }
      )
      assert.deepStrictEqual(taken.map(({ status }) => status).toSorted(), [303, 410])
      const members = yield* ask(account("strange-op"), `/me/channels/${channel}/members`)
      assert.strictEqual((members.body["members"] as ReadonlyArray<unknown>).length, 1)
    })
  )
})
