import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { listen } from "../../src/tunnel/EdgeLink.ts"

describe("the liveness tick", () => {
  afterEach(() => void vi.useRealTimers())

  it("runs every 15 seconds until it is ended, and counts what has arrived since the last one", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    let received = 0
    let heard = 0
    const end = listen({ received: () => received }, { heard: () => void heard++ })
    received = 9
    vi.advanceTimersByTime(14_999)
    assert.strictEqual(heard, 0)
    vi.advanceTimersByTime(1)
    assert.strictEqual(heard, 1)
    vi.advanceTimersByTime(60_000)
    assert.strictEqual(heard, 1, "silence is not life")
    received = 10
    vi.advanceTimersByTime(15_000)
    assert.strictEqual(heard, 2)
    end()
    received = 11
    vi.advanceTimersByTime(15_000)
    assert.strictEqual(heard, 2)
  })
})
