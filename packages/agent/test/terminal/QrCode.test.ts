import { assert, describe, it } from "@effect/vitest"
import decodeQR from "qr/decode.js"
import * as expose from "../../src/commands/expose.ts"

/** The picture that a camera sees of the lines, eight pixels a module. */
const pictureOf = (lines: ReadonlyArray<string>) => {
  const scale = 8
  const [width, height] = [(lines[0]?.length ?? 0) * scale, lines.length * 2 * scale]
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [row, half] = [Math.floor(y / scale / 2), Math.floor(y / scale) % 2]
      const light = (half === 0 ? "█▀" : "█▄").includes(lines[row]?.[Math.floor(x / scale)] ?? "?")
      data.fill(light ? 255 : 0, (y * width + x) * 4, (y * width + x) * 4 + 3)
      data[(y * width + x) * 4 + 3] = 255
    }
  return { width, height, data }
}

describe("a QR code on a terminal", () => {
  it.each(["https://a-12345678.zone.test/", `https://${"camera-in-the-garden-".repeat(2)}12345678.example.net:8443/`])(
    "of %s is read as that by a camera, and fits a terminal",
    (url) => {
      const lines = expose.lines(url)
      assert.strictEqual(decodeQR(pictureOf(lines)), url)
      for (const line of lines) assert.isAtMost(line.length, 60)
      assert.isAtMost(lines.length, 30)
    }
  )
})
