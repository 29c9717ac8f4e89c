/** Every link from the front page on leads somewhere, for each kind of person, and every page fits a narrow window. */
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, headersOf } from "@catenet/testing/server/Contract"
import { launch, missing, open } from "@catenet/testing/server/portal/browser/Chromium"
import { invalidities } from "@catenet/testing/server/portal/HtmlValidity"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mailed } from "./Furnished.ts"

const zone = {
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_GATE_COOKIE_DOMAIN: "zone.example",
  CT_PAYMENT_WEBHOOK_SECRET: "secret",
  CT_CP_OPERATORS: "crawl-operator"
}
const owner = person("crawl-owner")
const grantee = person("crawl-grantee")
const editor = person("crawl-editor")
const operator = person("crawl-operator")

/** The addresses of this portal that a page links to. */
const linksOf = (html: string) =>
  [...html.matchAll(/<(?:a|link|script|img)\b[^>]*? (?:href|src)="(\/[^"#]*)/gu)].map(([, path]) =>
    (path ?? "").replaceAll("&amp;", "&").replaceAll("&#38;", "&")
  )

/** Visits everything that can be reached by links; gives the pages, by their addresses. */
const crawl = (as: As, from: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const headers = { accept: "text/html", ...(yield* headersOf(as)) }
    const found = new Set(["/", "/portal", ...from])
    const pages: Array<string> = []
    const deadEnds: Array<string> = []
    for (const path of found) {
      const response = yield* TestServer.raw(path, { headers })
      const text = yield* Effect.promise(() => response.text())
      const location = response.headers.get("location")
      if (location?.startsWith("/") === true) found.add(location)
      // Receipts are an edge's, and here is none: 502 by the contract.
      else if (location === null && response.status !== (path.endsWith("/receipts.jsonl") ? 502 : 200))
        deadEnds.push(`${path}: ${response.status}`)
      if (!(response.headers.get("content-type") ?? "").startsWith("text/html")) continue
      if (response.status === 200) pages.push(path)
      assert.deepStrictEqual(invalidities(text), [], path)
      for (const link of linksOf(text)) found.add(link)
    }
    assert.deepStrictEqual(deadEnds, [])
    return pages
  })

const furnished = Effect.gen(function* () {
  const tunnel = String((yield* ask(owner, "/me/tunnels", { name: "W".repeat(60) })).body["id"])
  yield* ask(owner, `/me/tunnels/${tunnel}/grants`, { grantee: "crawl-grantee" })
  const channel = idOf("crawled")
  yield* ask(account("crawl-owner"), "/me/channels", { channel, operator_pubkey: keyOf("op") })
  yield* ask(account("crawl-owner"), `/me/channels/${channel}/members`, materialOf(channel, "crawl a"))
  yield* ask(account("crawl-owner"), `/me/channels/${channel}/allowlist`, { email: "crawl-editor@people.example" })
  const topology = String((yield* ask(owner, "/me/topologies", {})).body["id"])
  for (const agent of ["crawl a", "crawl b"])
    yield* ask(owner, `/me/topologies/${topology}/agents`, { agent: keyOf(agent) })
  yield* ask(owner, `/me/topologies/${topology}/edges`, { a: keyOf("crawl a"), b: keyOf("crawl b") })
  yield* ask(owner, `/me/topologies/${topology}/share`, { email: "crawl-editor@people.example" })
  const sql = yield* SqlClient.SqlClient
  yield* sql`update channels set label = ${"W".repeat(60)} where channel = ${channel}`
  yield* sql`update topologies set name = ${"W".repeat(60)} where id = ${topology}`
  return { tunnel, channel, topology }
})

describe.skipIf(missing)("the pages of the portal", () => {
  layer(server(zone), { excludeTestServices: true, timeout: "120 seconds" })("from the front page on", (it) => {
    it.effect("have no dead end for any kind of person, and need no more than 320 px", () =>
      Effect.gen(function* () {
        const { channel, topology, tunnel } = yield* furnished
        const { unsubscribe } = yield* mailed
        const drawn = `/me/topologies/${topology}/editor`
        const reached = {
          visitor: yield* crawl("anonymous", [unsubscribe]),
          owner: yield* crawl(owner),
          grantee: yield* crawl(grantee),
          editor: yield* crawl(editor),
          operator: yield* crawl(operator)
        }
        assert.includeMembers(reached.visitor, ["/", "/impressum", unsubscribe])
        assert.includeMembers(reached.owner, [
          `/portal/tunnels/${tunnel}`,
          `/portal/tunnels/${tunnel}/uptime`,
          `/portal/channels/${channel}`,
          drawn
        ])
        assert.include(reached.grantee, `/portal/tunnels/${tunnel}`)
        assert.includeMembers(reached.editor, [drawn, `/portal/channels/${channel}/claim`])
        assert.include(reached.operator, "/operators")

        const browser = yield* launch
        const wide: Array<string> = []
        for (const [as, paths] of [
          ["anonymous", reached.visitor],
          [owner, reached.owner],
          [operator, ["/operators"]]
        ] as const) {
          const { page } = yield* open(browser, as, { viewport: { width: 320, height: 800 }, javaScriptEnabled: false })
          yield* Effect.promise(async () => {
            for (const path of paths) {
              await page.goto(path)
              const [width, client] = await page.evaluate<[number, number]>(
                "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
              )
              if (width > client) wide.push(`${path}: ${width}`)
            }
          })
        }
        assert.deepStrictEqual(wide, [])
      }).pipe(Effect.provide(database), Effect.scoped)
    )
  })
})
