import { assert, describe, it } from "vitest"
import { printable } from "../../src/terminal/Log.ts"

describe("text from elsewhere", () => {
  it("reaches a terminal without control characters, C1 ones included, and without marks that turn its direction", () => {
    assert.strictEqual(
      printable("a\u001b]0;x\u0007\u009b2Jb\r\nc\u202ed"),
      "a\\u001b]0;x\\u0007\\u009b2Jb\\u000d\\u000ac\\u202ed"
    )
  })

  it("stays as it is where it is text", () => {
    assert.strictEqual(printable("Grüße, 你好 🙂 \\n"), "Grüße, 你好 🙂 \\n")
  })
})
