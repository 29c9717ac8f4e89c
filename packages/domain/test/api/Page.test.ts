import { cursorIn, idempotencyHeader, maxPage, nextLink, pageQuery } from "@catenet/domain/api/Page"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

describe("a page of a list", () => {
  const read = Schema.decodeUnknownResult(Schema.Struct(pageQuery))
  const reads = (query: object) => Result.isSuccess(read(query))

  it("has 1 to 1000 entries from a cursor on", () => {
    assert.strictEqual(maxPage, 1000)
    assert.deepStrictEqual([{}, { limit: "1" }, { limit: "1000" }, { cursor: "c".repeat(512) }].map(reads), [
      true,
      true,
      true,
      true
    ])
    assert.deepStrictEqual(
      [{ limit: "0" }, { limit: "1001" }, { limit: "x" }, { cursor: "" }, { cursor: "c".repeat(513) }].map(reads),
      [false, false, false, false, false]
    )
  })

  it("links to the next one", () => {
    const next = { limit: 2, cursor: "a b" }
    assert.strictEqual(nextLink("/l", next), '</l?limit=2&cursor=a+b>; rel="next"')
    assert.strictEqual(nextLink("/l?cursor=x&limit=2#y", next), '</l?cursor=a+b&limit=2>; rel="next"')
    assert.strictEqual(nextLink("/l?role=%3Ea&limit=2", next), '</l?role=%3Ea&limit=2&cursor=a+b>; rel="next"')
  })

  it.prop(
    "has its cursor in that link",
    { cursor: pageQuery.cursor.schema, role: Schema.String },
    ({ cursor, role }) => {
      const url = `/l?${new URLSearchParams({ role, cursor: "old" }).toString()}`
      assert.strictEqual(cursorIn(nextLink(url, { limit: 2, cursor })), cursor)
    }
  )

  it("has no cursor where nothing follows", () => {
    for (const link of [undefined, "", '</l>; rel="next"', '</l?cursor=a>; rel="prev"']) {
      assert.isUndefined(cursorIn(link), link)
    }
  })
})

it("an idempotency key has 1 to 255 characters", () => {
  const read = Schema.decodeUnknownResult(Schema.Struct(idempotencyHeader))
  const reads = (length: number) => Result.isSuccess(read({ "idempotency-key": "k".repeat(length) }))
  assert.deepStrictEqual([1, 255, 0, 256].map(reads), [true, true, false, false])
})
