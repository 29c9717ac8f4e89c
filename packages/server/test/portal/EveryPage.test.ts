/** Rules that every page and every form of the portal keeps. One that is listed in `Addresses` is held by them. */
import { server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Addresses from "../../src/portal/Addresses.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { faults } from "./PageFaults.ts"

const zone = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_CP_OPERATORS: "every-eve"
}
const eve = person("every-eve")

const send = (as: As, path: string, init: RequestInit = {}) =>
  Effect.gen(function* () {
    const own = yield* headersOf(as)
    const response = yield* TestServer.raw(path, { ...init, headers: { accept: "text/html", ...own, ...init.headers } })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, location: response.headers.get("location"), text, headers: response.headers }
  })

const post = (as: As, path: string, headers: Readonly<Record<string, string>> = {}) =>
  send(as, path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: "name=other&port=80&grantee=other&email=a%40b.example&ttl=1h&mode=off&webhook_url=https%3A%2F%2Fa.example&threshold_minutes=5"
  })

/** Values of the parameters of an address: what the account has, or what does not exist. */
const at = (path: string, values: Readonly<Record<string, string>>) =>
  path.replace(/:([a-z_]+)/gu, (_, name: string) => values[name] ?? "00".repeat(16))
const unknown = { id: "ab".repeat(16), channel: "cd".repeat(32), email: "x@y.example", grantee: "somebody" }

layer(server(zone), { excludeTestServices: true, timeout: "60 seconds" })("every page of the portal", (it) => {
  it.effect("is whole in both languages, under a strict policy, and kept by no browser", () =>
    Effect.gen(function* () {
      const made = yield* ask(eve, "/me/tunnels", { name: "cam" })
      const channel = idOf("every page")
      yield* ask(account("every-eve"), "/me/channels", { channel, operator_pubkey: keyOf("every") })
      const minted = yield* ask(
        account("every-eve"),
        `/me/channels/${channel}/claim-invites`,
        materialOf(channel, "every")
      )
      yield* ask(account("every-eve"), `/me/channels/${channel}/allowlist`, { email: "every-eve@people.example" })
      yield* ask(eve, `/portal/channels/${channel}/claim`, materialOf(channel, "every"))
      const own = { id: String(made.body["id"]), channel }
      const queries = new Map([["/portal/claim", `?invite=${String(minted.body["invite"])}`]])
      const headers = yield* headersOf(eve)
      for (const path of [...Addresses.pages, ...Addresses.operatorPages])
        for (const texts of [english, german]) {
          const address = `${at(path, own)}${queries.get(path) ?? ""}`
          const page = yield* send("anonymous", address, { headers: { ...headers, "accept-language": texts.language } })
          const about = `${address} ${texts.language}`
          assert.strictEqual(page.status, 200, `${about}: ${page.text.slice(0, 300)}`)
          assert.deepStrictEqual(faults(page.text, texts), [], about)
          assert.deepStrictEqual(invalidities(page.text), [], about)
          assert.strictEqual(page.headers.get("cache-control"), "no-store", about)
          const [, main = ""] = page.text.split("<main")
          for (const [form] of main.matchAll(/<form\b[^>]* method="post"[\s\S]*?<\/form>/gu))
            assert.match(form, /<input type="hidden" name="once" value="[0-9a-f]{32}">/u, about)
          assert.match(
            page.headers.get("content-security-policy") ?? "",
            /^default-src 'none'; style-src 'self'; script-src 'self';/u
          )
          assert.notInclude(page.headers.get("content-security-policy") ?? "", "unsafe", about)
        }
    })
  )

  it.effect("leads to the sign-in without a session, and so does every form", () =>
    Effect.gen(function* () {
      for (const path of Addresses.pages) {
        const { location, status } = yield* send("anonymous", at(path, unknown))
        assert.strictEqual(status, 303, path)
        assert.match(location ?? "", /^\/portal(?:\?next=%2Fportal%2F|$)/u, path)
      }
      for (const path of Addresses.forms) {
        const { location, status } = yield* post("anonymous", at(path, unknown))
        assert.deepStrictEqual([status, location], [303, "/portal"], path)
      }
    })
  )

  it.effect("takes no form that another site sends", () =>
    Effect.gen(function* () {
      const made = yield* ask(eve, "/me/tunnels", { name: "target" })
      for (const path of [...Addresses.forms, ...Addresses.operatorForms])
        for (const site of ["same-site", "cross-site"]) {
          const answer = yield* post(eve, at(path, { ...unknown, id: String(made.body["id"]) }), {
            "sec-fetch-site": site
          })
          assert.strictEqual(answer.status, 403, `${path} ${site}`)
        }
      assert.deepInclude((yield* ask(eve, `/me/tunnels/${String(made.body["id"])}`)).body, { name: "target" })
    })
  )
})
