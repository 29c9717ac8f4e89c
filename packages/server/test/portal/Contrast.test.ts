import { assert, describe, it } from "@effect/vitest"
import * as Stylesheet from "../../src/http/Stylesheet.ts"

/** The colours of a scheme by their names: the sheet has the light ones first, the dark ones second. */
const schemes = [...Stylesheet.text.matchAll(/:root \{([^}]*)\}/gu)].map(
  ([, body = ""]) =>
    new Map([...body.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/gu)].map(([, name = "", colour = ""]) => [name, colour]))
)

const linear = (part: number) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)

const luminance = (colour: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(colour.slice(at, at + 2), 16) / 255)
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const contrast = (one: string, other: string) => {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** What is written in which colour on which ground. */
const pairs = [
  ...["ink", "soft", "accent", "rot"].flatMap((text) => ["ground", "panel"].map((ground) => [text, ground] as const)),
  ["accent", "chosen"],
  ["on-accent", "accent"],
  ["rot", "rot-ground"],
  ["gelb", "gelb-ground"],
  ["gruen", "gruen-ground"]
] as const

describe("the colours of the pages", () => {
  it("have a contrast of 4.5 to 1 or more, light and dark", () => {
    assert.lengthOf(schemes, 2)
    for (const [index, scheme] of schemes.entries())
      for (const [text, ground] of pairs) {
        const found = contrast(scheme.get(text) ?? "", scheme.get(ground) ?? "")
        assert.isAtLeast(found, 4.5, `${text} on ${ground}, scheme ${index}`)
      }
  })
})
