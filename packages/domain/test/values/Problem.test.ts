import { Problem, problemType } from "@catenet/domain/values/Problem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { HttpServerRespondable, HttpServerResponse } from "effect/http"

class DeskTaken extends Problem<DeskTaken>()(
  "DeskTaken",
  { status: 409, title: "Desk taken", detail: ({ desk }) => `Desk ${desk} is taken.` },
  { desk: Schema.Int }
) {}

class RoomShut extends Problem<RoomShut>()("RoomShut", { status: 409, title: "Shut", detail: () => "It is shut." }) {}

describe("a problem", () => {
  it("derives its sentence from its facts", () => {
    const error = new DeskTaken({ desk: 7 })
    assert.strictEqual(error.detail, "Desk 7 is taken.")
    assert.strictEqual(error.message, error.detail)
    assert.strictEqual(new DeskTaken({ desk: 7, detail: "otherwise" }).detail, "otherwise")
  })

  it("has one form on the wire", () => {
    assert.deepStrictEqual(Schema.encodeSync(DeskTaken)(new DeskTaken({ desk: 7 })), {
      type: "urn:catenet:problem:desk-taken",
      title: "Desk taken",
      status: 409,
      detail: "Desk 7 is taken.",
      code: "DeskTaken",
      desk: 7
    })
  })

  it("is distinguished from another of the same status by its type", () => {
    const either = Schema.Union([RoomShut, DeskTaken])
    const wire = Schema.encodeSync(DeskTaken)(new DeskTaken({ desk: 1 }))
    assert.instanceOf(Schema.decodeUnknownSync(either)(wire), DeskTaken)
    assert.instanceOf(Schema.decodeUnknownSync(either)(Schema.encodeSync(RoomShut)(new RoomShut({}))), RoomShut)
  })

  it.effect("is caught by its tag", () =>
    Effect.gen(function* () {
      const failing = Effect.fail(new DeskTaken({ desk: 2 })).pipe(
        Effect.catchTag("DeskTaken", ({ desk }) => Effect.succeed(desk))
      )
      assert.strictEqual(yield* failing, 2)
    })
  )

  it.effect("becomes a response where no route declares it", () =>
    Effect.gen(function* () {
      const response = yield* HttpServerRespondable.toResponse(new RoomShut({}))
      assert.strictEqual(response.status, 409)
      assert.strictEqual(HttpServerResponse.toWeb(response).headers.get("content-type"), "application/problem+json")
    })
  )

  it("names types in kebab case", () => {
    assert.strictEqual(problemType("A"), "urn:catenet:problem:a")
    assert.strictEqual(problemType("EdgeCaNotPublished"), "urn:catenet:problem:edge-ca-not-published")
  })
})
