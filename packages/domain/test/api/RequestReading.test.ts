import { lossless } from "@catenet/domain/api/LosslessJson"
import { maxBodyBytes, readBody, ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { OverlayMode } from "@catenet/domain/topologies/Topology"
import { HolderKey } from "@catenet/domain/values/Keys"
import { CountFromText, Uint64 } from "@catenet/domain/values/Numbers"
import { JoinToken } from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

const Body = Schema.Struct({ holder: HolderKey, count: Schema.Int, mode: OverlayMode })

class Sample extends HttpApiGroup.make("sample")
  .add(
    HttpApiEndpoint.get("read", "/read/:holder", {
      params: { holder: HolderKey },
      query: { n: Schema.optionalKey(CountFromText) },
      success: Schema.String
    }),
    HttpApiEndpoint.get("broken", "/broken", { success: Schema.Int })
  )
  .middleware(ReadsParameters)
  .add(
    HttpApiEndpoint.post("write", "/write", { payload: Body, success: Body }).middleware(ReadsBody),
    HttpApiEndpoint.post("later", "/later", { payload: Body, success: Body }).middleware(ReadsBody),
    HttpApiEndpoint.post("exact", "/exact", {
      payload: lossless(Schema.Struct({ units: Uint64 })),
      success: lossless(Schema.Struct({ units: Uint64 }))
    }).middleware(ReadsBody),
    HttpApiEndpoint.post("join", "/join", {
      payload: Schema.Struct({ token: JoinToken }),
      success: Schema.Boolean
    }).middleware(ReadsBody),
    HttpApiEndpoint.post("many", "/many", { payload: Schema.Array(Schema.Int), success: Schema.Boolean }).middleware(
      ReadsBody
    )
  ) {}

const Api = HttpApi.make("sample").add(Sample).annotate(HttpApi.PayloadParseOptions, { errors: "all" })

const handlers = HttpApiBuilder.group(Api, "sample", (build) =>
  build
    .handle("read", ({ params }) => Effect.succeed(params.holder))
    .handle("broken", () => Effect.succeed(1.5))
    .handle("write", ({ payload }) => Effect.succeed(payload))
    .handleRaw("later", () => readBody(Body))
    .handle("exact", ({ payload }) => Effect.succeed({ units: payload.units }))
    .handle("join", () => Effect.succeed(true))
    .handle("many", () => Effect.succeed(true))
)

const served = HttpRouter.toWebHandler(
  HttpApiBuilder.layer(Api).pipe(
    Layer.provide(handlers),
    Layer.provide([ReadsBody.layer, ReadsParameters.layer]),
    Layer.provideMerge(HttpServer.layerServices),
    Layer.provideMerge(Layer.succeed(HttpIncomingMessage.MaxBodySize, 4096 as never))
  ),
  { disableLogger: true }
)

const holder = "ab".repeat(32)
const json = "application/json"

const ask = async (path: string, init?: RequestInit) => {
  const response = await served.handler(new Request(`http://localhost${path}`, init))
  const text = await response.text()
  return { status: response.status, type: response.headers.get("content-type"), text }
}
const send = (body: string | Uint8Array<ArrayBuffer>, type = json, path = "/write") =>
  ask(path, { method: "POST", body, headers: { "content-type": type } })
const refused = async (answer: ReturnType<typeof ask>, status: number, code: string) => {
  const { status: given, text, type } = await answer
  assert.strictEqual(given, status, text)
  assert.strictEqual(type, "application/problem+json")
  const problem = JSON.parse(text)
  assert.strictEqual(problem.code, code)
  assert.strictEqual(problem.status, status)
  return problem
}

describe("a request that can be read", () => {
  it("reaches the handler, in any letter case of hex and mode", async () => {
    const answer = await send(JSON.stringify({ holder: holder.toUpperCase(), count: 3, mode: "SMART_ROUTE", more: 1 }))
    assert.deepStrictEqual(JSON.parse(answer.text), { holder, count: 3, mode: "smart-route" })
    assert.strictEqual((await ask(`/read/${holder}?n=5`)).status, 200)
  })

  it("keeps integers up to 2^64-1", async () => {
    const body = `{"units":18446744073709551615}`
    assert.deepStrictEqual(await send(body, json, "/exact"), { status: 200, type: json, text: body })
    await refused(send(`{"units":18446744073709551616}`, json, "/exact"), 422, "WrongShape")
    await refused(send(`{"units":-1}`, json, "/exact"), 422, "WrongShape")
    await refused(send(`{"units":1.5}`, json, "/exact"), 422, "WrongShape")
    await refused(send(`{"units":1`, json, "/exact"), 400, "MalformedRequest")
  })
})

describe("a request that cannot be read", () => {
  it("is malformed when it is not JSON", async () => {
    for (const body of ["", "{", "{holder:1}", "\u0000", "[1,]"]) {
      const problem = await refused(send(body), 400, "MalformedRequest")
      assert.strictEqual(problem.detail, "The request cannot be read: Expected a valid JSON body.")
    }
  })

  it("is malformed when it is not UTF-8, for every reader", async () => {
    const [before = "", after = ""] = JSON.stringify({ holder, count: 1, mode: "baseline", more: "|" }).split("|")
    const around = (...bytes: ReadonlyArray<number>) =>
      Uint8Array.from([...Buffer.from(before), ...bytes, ...Buffer.from(after)])
    for (const path of ["/write", "/later"]) {
      for (const wrong of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80, 0x80]]) {
        const problem = await refused(send(around(...wrong), json, path), 400, "MalformedRequest")
        assert.strictEqual(problem.detail, "The request cannot be read: Expected a body in UTF-8.")
      }
      assert.strictEqual((await send(around(0xef, 0xbf, 0xbd, 0xf0, 0x9f, 0x8c, 0x90), json, path)).status, 200)
    }
  })

  it("is malformed when a text is, and names the parameter", async () => {
    for (const wrong of ["xx", "é".repeat(64), "+f".repeat(32), ` ${holder}`]) {
      const problem = await refused(
        send(JSON.stringify({ holder: wrong, count: 1, mode: "baseline" })),
        400,
        "MalformedRequest"
      )
      assert.strictEqual(problem.detail, "The request cannot be read: holder: Expected 64 hex digits.")
    }
    const problem = await refused(send(JSON.stringify({ holder, count: 1, mode: "ring" })), 400, "MalformedRequest")
    assert.deepStrictEqual(problem.errors[0].path, ["mode"])
  })

  it("has the wrong shape when a member is missing or of another type, and names every one", async () => {
    const problem = await refused(send(JSON.stringify({ holder: 7, count: "1" })), 422, "WrongShape")
    assert.deepStrictEqual(problem.errors.map((error: { path: ReadonlyArray<string> }) => error.path[0]).sort(), [
      "count",
      "holder",
      "mode"
    ])
    await refused(send(JSON.stringify({ holder: "xx", count: "1", mode: "baseline" })), 422, "WrongShape")
    await refused(send(JSON.stringify({ holder, count: 1.5, mode: "baseline" })), 422, "WrongShape")
    await refused(send("null"), 422, "WrongShape")
    await refused(send("[]"), 422, "WrongShape")
  })

  it("lists at most twenty refusals", async () => {
    const problem = await refused(
      send(JSON.stringify(Array.from({ length: 50 }, () => "x")), json, "/many"),
      422,
      "WrongShape"
    )
    assert.strictEqual(problem.errors.length, 20)
    assert.deepStrictEqual(problem.errors[19].path, [19])
  })

  it("is of an unsupported type", async () => {
    const problem = await refused(send("a=b", "application/x-www-form-urlencoded"), 415, "UnsupportedMediaType")
    assert.strictEqual(problem.expected, json)
  })

  it("is too large", async () => {
    const problem = await refused(send(JSON.stringify({ holder: "a".repeat(maxBodyBytes) })), 413, "BodyTooLarge")
    assert.strictEqual(problem.limit_bytes, maxBodyBytes)
  })

  it("is no larger for breaking off", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("the line broke")) })
    const headers = { "content-type": json }
    const answer = await ask("/write", { method: "POST", headers, body, duplex: "half" } as RequestInit)
    assert.strictEqual(answer.status, 400, answer.text)
  })

  it("has a malformed path or query", async () => {
    const path = await refused(ask("/read/zz"), 400, "MalformedRequest")
    assert.deepStrictEqual(path.errors[0].path, ["holder"])
    const query = await refused(ask(`/read/${holder}?n=-1`), 400, "MalformedRequest")
    assert.deepStrictEqual(query.errors[0].path, ["n"])
  })

  it("is never quoted in the refusal", async () => {
    const { text } = await send(JSON.stringify({ token: "hunter2hunter2" }), json, "/join")
    assert.notInclude(text, "hunter2")
  })
})

describe("a body that a raw handler reads", () => {
  it("is answered as one that was read before the handler", async () => {
    const good = { holder, count: 3, mode: "SMART_ROUTE" }
    const bodies = ["", "{", "null", "[]", good, { ...good, holder: "xx" }, { holder: 7 }, { holder: "a".repeat(5000) }]
    for (const body of bodies.map((body) => (typeof body === "string" ? body : JSON.stringify(body)))) {
      for (const type of [json, "Application/JSON; charset=utf-8", "text/plain"]) {
        assert.deepStrictEqual(await send(body, type, "/later"), await send(body, type, "/write"), `${type} ${body}`)
      }
    }
  })
})

describe("an answer of ours that does not fit", () => {
  it("stays a fault", async () => {
    const { status, text } = await ask("/broken")
    assert.strictEqual(status, 500)
    assert.strictEqual(text, "")
  })
})
