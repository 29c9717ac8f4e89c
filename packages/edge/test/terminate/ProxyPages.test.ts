import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { smallSheet } from "@catenet/platform/PageStyles"
import * as GatePages from "@catenet/proxy/internal/gate/GatePages"
import { readAll, tlsTo } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:http2"
import { connect as connectTls } from "node:tls"
import { readerOf, readerOfHead, siteOf } from "../../../proxy/src/ContentNegotiation.ts"
import * as ProxyPages from "../../../proxy/src/ProxyPages.ts"

const host = "app.zone.test"
const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
const closed = new AccessPolicy({ expires_at: UnixSeconds.make(5), schedule: null })

const all = {
  unknown: ProxyPages.unknownName(host),
  offline: ProxyPages.offlinePage(),
  silent: ProxyPages.silentPage(),
  malformed: ProxyPages.malformedPage("Invalid header token"),
  closed: ProxyPages.closedPage(closed, 10),
  codeRefused: GatePages.codeRefused(),
  unauthorized: GatePages.unauthorized(),
  noSignIn: GatePages.noSignIn(),
  unavailable: GatePages.unavailable()
}

/** As a program got it before there were languages. */
const offline = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>This service is offline</title>
<style>${smallSheet}</style>
</head>
<body><main><h1>This service is offline</h1><p>Its address is right, but the computer behind it is not connected at the moment. Try again in a little while.</p></main></body>
</html>
`

describe("the edge's own pages", () => {
  it("have their sentences in both languages, in one shell, and nothing from elsewhere", () => {
    for (const [name, answer] of Object.entries(all)) {
      const [en, de] = (["en", "de"] as const).map((language) => ProxyPages.readBy(answer, language))
      for (const [language, page] of [
        ["en", en],
        ["de", de]
      ] as const) {
        const text = page?.body.toString() ?? ""
        assert.match(text, new RegExp(`^<!doctype html>\n<html lang="${language}">`, "u"), name)
        assert.include(text, `class="brand"`, name)
        assert.notMatch(text, /(?:src|href)="(?!\/"|data:,"|data:image\/svg)|<script|undefined/u, name)
        assert.strictEqual(page?.fields["Content-Language"], language)
        assert.strictEqual(page?.fields["Content-Type"], "text/html; charset=utf-8")
        assert.strictEqual(page?.status, answer.status)
        assert.strictEqual(page?.fields["Retry-After"], answer.fields["Retry-After"])
        assert.strictEqual(page?.fields["Cache-Control"], "no-store")
      }
      assert.notStrictEqual(
        /<h1>(.*?)<\/h1>/u.exec(en?.body.toString() ?? "")?.[1],
        /<h1>(.*?)<\/h1>/u.exec(de?.body.toString() ?? "")?.[1]
      )
      assert.deepStrictEqual(ProxyPages.readBy(answer, undefined), answer)
    }
  })

  it("are for those who name HTML as what they take", () => {
    for (const [accept, language, reader] of [
      [undefined, "de", undefined],
      ["*/*", "de", undefined],
      ["application/json", undefined, undefined],
      [browser, undefined, "en"],
      [browser, "fr", "en"],
      [browser, "de-AT, en;q=0.5", "de"],
      ["TEXT/HTML", "en;q=0.1, de", "de"]
    ] as const)
      assert.strictEqual(readerOf(accept, language), reader, `${accept} ${language}`)
    const head = `GET / HTTP/1.1\r\nHost: a\r\nACCEPT: ${browser}\r\nAccept-Language: de\r\n\r\n`
    assert.strictEqual(readerOfHead(head), "de")
    assert.strictEqual(readerOfHead("GET / HTTP/1.1\r\nAccept: */*\r\n\r\nAccept: text/html"), undefined)
    assert.deepStrictEqual(
      ["a.example:8443", "a.example", "<b>", "a b", undefined].map((authority) => siteOf(authority)),
      ["a.example", "a.example", undefined, undefined, undefined]
    )
    assert.strictEqual(readerOfHead("\u0000\r\n: x\r\nAccept"), undefined)
  })

  it.live("are shown in the language of the visitor by HTTP/1.1 and HTTP/2, and programs get what they got", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
      const get = (fields: string) =>
        Effect.promise(async () => {
          const visitor = await tlsTo(world.frontDoor, world.wildcardRoot, host)
          const answer = readAll(visitor)
          visitor.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${fields}\r\n`)
          return (await answer).toString()
        })
      const german = yield* get(`Accept: ${browser}\r\nAccept-Language: de\r\n`)
      assert.match(german, /^HTTP\/1\.1 502 Bad Gateway\r\n[^]*Content-Language: de\r\n[^]*Dieser Dienst ist offline/u)
      assert.include(german, `<p class="site">${host}</p>`)
      const machine = yield* get("Accept: */*\r\nAccept-Language: de\r\n")
      assert.strictEqual(
        machine,
        `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nRetry-After: 10\r\nContent-Length: ${offline.length}\r\nConnection: close\r\n\r\n${offline}`
      )
      const session = connect(`https://${host}`, {
        createConnection: () =>
          connectTls({
            host: "127.0.0.1",
            port: world.frontDoor,
            servername: host,
            ca: world.wildcardRoot,
            ALPNProtocols: ["h2"]
          })
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => session.destroy()))
      const answer = yield* Effect.promise(
        () =>
          new Promise<string>((resolve, reject) => {
            const headers = { ":authority": host, accept: browser, "accept-language": "de" }
            let text = ""
            session.on("error", reject)
            session
              .request(headers)
              .setEncoding("utf8")
              .on("data", (chunk: string) => (text += chunk))
              .on("end", () => resolve(text))
              .on("error", reject)
          })
      )
      assert.include(answer, "Dieser Dienst ist offline")
    }).pipe(Effect.scoped)
  )
})
