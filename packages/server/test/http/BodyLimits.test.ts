/** How long a body may be at each route, and how many members and fields it may have. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { BodyLimit, maxBodyBytes, maxListBytes } from "@catenet/domain/api/RequestReading"
import { bearerOf, server } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"

const post = (path: string, body: string, type = "application/json", headers: Record<string, string> = {}) =>
  TestServer.raw(path, { method: "POST", body, headers: { "content-type": type, ...headers } }).pipe(
    Effect.flatMap((response) => Effect.promise(async () => [response.status, await response.text()] as const))
  )
const form = "application/x-www-form-urlencoded"
const padded = (length: number) => `{"x":"${"y".repeat(length - 8)}"}`
const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n.toString(36)}":0`).join(",")}}`

layer(server({ CT_CP_REQUESTS_PER_MIN: "0", CT_CP_UNAUTH_WRITE_PER_MIN: "0", CT_GATE_COOKIE_DOMAIN: "zone.example" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the body of a request", (it) => {
  it.effect("has 16 KiB at most where the route takes no list", () =>
    Effect.gen(function* () {
      const [within] = yield* post("/enroll/redeem", padded(maxBodyBytes))
      assert.strictEqual(within, 422)
      const [beyond, text] = yield* post("/enroll/redeem", padded(maxBodyBytes + 1))
      assert.strictEqual(beyond, 413)
      assert.include(text, `"limit_bytes":${maxBodyBytes}`)
    })
  )

  it.effect("has 256 KiB at most where the route takes a list", () =>
    Effect.gen(function* () {
      const authorization = `Bearer ${yield* bearerOf("ada")}`
      const sent = (length: number) => post("/me/pipelines", padded(length), undefined, { authorization })
      assert.strictEqual((yield* sent(maxListBytes))[0], 422)
      const [beyond, text] = yield* sent(maxListBytes + 1)
      assert.strictEqual(beyond, 413)
      assert.include(text, `"limit_bytes":${maxListBytes}`)
    })
  )

  it.effect("holds a bootstrap secret of the most characters, each beyond ASCII", () =>
    Effect.gen(function* () {
      const admin = { "x-ct-admin-token": TestServer.adminToken }
      const [minted] = yield* post("/bootstrap/mint", JSON.stringify({ secret: "ä".repeat(8192) }), undefined, admin)
      assert.strictEqual(minted, 200)
    })
  )

  it.effect("is longer than 16 KiB at no route that needs neither token nor signature", () =>
    Effect.sync(() => {
      const open: Array<string> = []
      HttpApi.reflect(ControlPlaneApi, {
        onGroup: () => {},
        onEndpoint: ({ endpoint, middleware }) => {
          const verifies = [...middleware].some((each) => "security" in each)
          if (Context.get(endpoint.annotations, BodyLimit) > maxBodyBytes && !verifies)
            open.push(`${endpoint.method} ${endpoint.path}`)
        }
      })
      assert.deepStrictEqual(open, ["POST /payment/webhook"])
    })
  )

  it.effect("has no more members and fields than its route can need, counted before it is parsed", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("/enroll/redeem", members(512)))[0], 422)
      assert.strictEqual((yield* post("/enroll/redeem", members(513)))[0], 400)
      const text = `{"x":"${":".repeat(1_000)}\\"${":".repeat(1_000)}"}`
      assert.strictEqual((yield* post("/enroll/redeem", text))[0], 422, "colons in texts are no members")
      const fields = (count: number) => Array.from({ length: count }, (_, n) => `${n}=`).join("&")
      assert.strictEqual((yield* post("/gate/share", fields(128), form))[0], 404)
      assert.strictEqual((yield* post("/gate/share", fields(129), form))[0], 422)
      assert.strictEqual((yield* post("/gate/share", "x=" + "y".repeat(maxBodyBytes), form))[0], 413)
    })
  )
})
