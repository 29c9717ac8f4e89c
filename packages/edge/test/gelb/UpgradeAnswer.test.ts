import { assert, describe, it } from "@effect/vitest"
import { UpgradeAnswer } from "@catenet/edge/gelb/UpgradeAnswer"

const ask = (text: string, size: number) => {
  const answer = new UpgradeAnswer()
  for (let at = 0; at < text.length; at += size) {
    const known = answer.push(Buffer.from(text.slice(at, at + size), "latin1"))
    if (known !== undefined) return known
  }
  return undefined
}

describe("UpgradeAnswer", () => {
  it("knows acceptance, refusal and interim answers at every segmentation", () => {
    const cases: ReadonlyArray<readonly [string, boolean | undefined]> = [
      ["HTTP/1.1 101 Switching Protocols\r\n\r\n", true],
      ["HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 ", false],
      ["HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n", true],
      ["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 426 Upgrade Required\r\n", false],
      ["HTTP/1.1 100 Continue\r\n", undefined],
      ["SSH-2.0-OpenSSH", false]
    ]
    for (const [text, known] of cases) {
      for (let size = 1; size <= text.length; size++) assert.strictEqual(ask(text, size), known, text)
    }
  })
})
