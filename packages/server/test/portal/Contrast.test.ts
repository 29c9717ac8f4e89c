import { colours } from "@catenet/platform/PageStyles"
import { assert, describe, it } from "@effect/vitest"

/** The colours of a scheme by their names: the sheet has the light ones first, the dark ones second. */
const schemes = [...colours.matchAll(/:root \{([^}]*)\}/gu)].map(
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
  ...["ink", "soft", "accent", "rot"].flatMap((text) =>
    ["ground", "panel"].map((ground) => [text, ground, 4.5] as const)
  ),
  ...["soft", "faint"].map((text) => [text, "sunken", 4.5] as const),
  ["accent", "accent-pale", 4.5],
  ["on-accent", "accent", 4.5],
  ["code-ink", "code-ground", 4.5],
  ...["rot", "gelb", "gruen"].map((text) => [text, `${text}-pale`, 4.5] as const),
  // Marks and borders of fields.
  ...["rot-mark", "gelb-mark", "gruen-mark", "control", "chart-second"].map((mark) => [mark, "panel", 3] as const)
] as const

describe("the colours of the pages", () => {
  it("have a contrast of 4.5 to 1 for text and 3 to 1 for marks, light and dark", () => {
    assert.lengthOf(schemes, 2)
    for (const [index, scheme] of schemes.entries())
      for (const [text, ground, least] of pairs) {
        const found = contrast(scheme.get(text) ?? "", scheme.get(ground) ?? "")
        assert.isAtLeast(found, least, `${text} on ${ground}, scheme ${index}`)
      }
  })
})
