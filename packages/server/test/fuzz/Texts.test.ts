/**
 * Texts without a UTF-8 form, texts that PostgreSQL does not keep, and bytes that are no text, in every place of a path,
 * a query and a header, one after the other: each is refused or not found, none is a fault. A text comes from one of those whom
 * the route admits, who take turns; with CT_TEXT_CALLERS=all it comes from everybody.
 */
import { members } from "@catenet/domain/api/LosslessJson"
import * as Accounts from "@catenet/testing/server/Accounts"
import * as LoggedErrors from "@catenet/testing/server/LoggedErrors"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { routes } from "./Document.ts"

const fromEach = process.env["CT_TEXT_CALLERS"] === "all"

/** NUL, halves of a surrogate pair as their bytes would be, bytes of no encoding, a line, and much. */
const hostile = [
  "__proto__",
  "constructor",
  "%00",
  "a%00b",
  "%ED%A0%80",
  "%FF",
  "%C0%80",
  "a%0Ab",
  "a%00%40b.example",
  "x".repeat(3000)
]

/** The bytes of a text as a header can carry them. */
const asBytes = (text: string) =>
  text.replace(/%(?:00|0A)/g, "").replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

layer(Accounts.server({ CT_CP_HOSTNAME_ZONE: "zone.example" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "a hostile text",
  (it) => {
    it.effect("is no fault wherever it stands", () =>
      Effect.gen(function* () {
        const base = yield* TestServer.baseUrl
        const owner = { authorization: `Bearer ${yield* Accounts.bearerOf("ada")}` }
        const cookie = `__Host-ct_portal_session=${yield* Accounts.sessionOf("ada", "ada@a.test")}`
        const callers = [
          { way: "bearer", headers: owner },
          { way: "session", headers: { cookie, origin: base } },
          { way: "admin", headers: { "x-ct-admin-token": TestServer.adminToken } }
        ]
        const made = (path: string, body: object) =>
          Effect.promise(async () => {
            const headers = { ...owner, "content-type": "application/json" }
            const response = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) })
            assert.isTrue(response.ok, `${path} made nothing: ${response.status}`)
            return String(members(await response.json().catch(() => undefined))["id"])
          })
        const tunnel = yield* made("/me/tunnels", { name: "hello" })
        const topology = yield* made("/me/topologies", {})
        assert.match(tunnel + topology, /^[0-9a-f]{64}$/)
        const channel = "c".repeat(64)
        yield* made("/me/channels", { channel, operator_pubkey: "d".repeat(64) })
        const usual = (path: string, name: string) => {
          if (name === "id") return path.includes("topologies") ? topology : tunnel
          return name === "channel" ? channel : "a".repeat(64)
        }

        const faults: Array<string> = []
        let asked = 0
        let turns = 0
        for (const { method, operation, path } of routes) {
          const ways = new Set(operation.security.flatMap((way) => Object.keys(way)))
          const admitted = callers.filter(({ way }) => ways.has(way))
          const turn = admitted.length > 0 ? admitted : callers
          for (const { in: place, name } of operation.parameters) {
            for (const text of hostile) {
              const filled = path.replace(/\{([^}]+)\}/g, (_, each: string) =>
                place === "path" && each === name ? text : usual(path, each)
              )
              const url = base + filled + (place === "query" ? `?${name}=${text}` : "")
              const extra = place === "header" ? { [name]: asBytes(text) } : {}
              const body = method === "GET" ? {} : { body: "{}" }
              const [first = callers[0]] = turn.slice(turns++ % turn.length)
              for (const caller of fromEach ? callers : [first]) {
                const headers = { "content-type": "application/json", ...caller?.headers, ...extra }
                const { status } = yield* Effect.promise(() =>
                  fetch(url, { method, headers, ...body, redirect: "manual" })
                )
                asked++
                if (status >= 500 && ![502, 503].includes(status)) faults.push(`${status} ${method} ${filled} ${name}`)
              }
            }
          }
        }
        assert.isAbove(asked, fromEach ? 3000 : 1000)
        assert.deepStrictEqual(faults, [], LoggedErrors.said())
      })
    )
  }
)
