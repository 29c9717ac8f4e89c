/** Pauses before a command is started again. */
import { assert, describe, it } from "@effect/vitest"
import { RestartBackoff } from "../../src/channel/serve/RejoinBackoff.ts"

describe("the pause before a command is started again", () => {
  it("doubles to its longest, and begins anew after a run that was long enough", () => {
    const pause = new RestartBackoff({ first: 200, longest: 1000, steady: 10_000 })
    const runs = [0, 10, 10_000, 5, 5, 10_001, 0, 0]
    assert.deepStrictEqual(
      runs.map((millis) => pause.after(millis)),
      [200, 400, 800, 1000, 1000, 200, 400, 800]
    )
  })
})
