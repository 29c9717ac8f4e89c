import { misreadKey } from "@catenet/testing/crypto/misreadKey"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ToMain, ToWorker } from "../../src/processes/WorkerMessages.ts"

/** What Node does to a message on its way to another process. */
const sent = (message: unknown): unknown => JSON.parse(JSON.stringify(message))

describe("a message between processes of an edge", () => {
  it.prop("arrives unchanged in a worker", [ToWorker], ([message]) => {
    if (misreadKey.test(JSON.stringify(message))) return
    const arrived = Schema.decodeUnknownSync(ToWorker)(sent(Schema.encodeSync(ToWorker)(message)))
    assert.deepStrictEqual(sent(arrived), sent(message))
  })

  it.prop("arrives unchanged in the main process", [ToMain], ([message]) => {
    if (misreadKey.test(JSON.stringify(message))) return
    const arrived = Schema.decodeUnknownSync(ToMain)(sent(Schema.encodeSync(ToMain)(message)))
    assert.deepStrictEqual(sent(arrived), sent(message))
  })

  it("is refused in any other form", () => {
    for (const message of [undefined, {}, { _tag: "Apply", id: 1 }, { _tag: "Hello " }]) {
      assert.throws(() => Schema.decodeUnknownSync(ToWorker)(message))
      assert.throws(() => Schema.decodeUnknownSync(ToMain)(message))
    }
  })
})
