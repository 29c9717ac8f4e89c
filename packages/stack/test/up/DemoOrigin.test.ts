/** The page behind the demo tunnel looks as the portal does, in the visitor's language. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { freePort } from "../../src/Ports.ts"
import * as DemoOrigin from "../../src/up/DemoOrigin.ts"

describe("the demo origin", () => {
  it("says what reached it in English and German, escaped", async () => {
    const port = await Effect.runPromise(freePort("127.0.0.1"))
    const { close } = await DemoOrigin.serve("127.0.0.1", port)
    try {
      for (const [language, title] of [
        ["en", "Hello from your machine"],
        ["de-AT,en;q=0.5", "Hallo von Ihrem Rechner"]
      ] as const) {
        const headers = { "accept-language": language, "user-agent": "<b>me</b>" }
        const text = await (await fetch(`http://127.0.0.1:${port}/a?b`, { headers })).text()
        assert.include(text, `<html lang="${language.slice(0, 2)}">`)
        assert.include(text, `<h1>${title}</h1>`)
        assert.include(text, "&#60;b&#62;me")
        assert.include(text, "--accent: #1f5fd6")
      }
      for (const [forwarded, english, german] of [
        [
          { "x-forwarded-for": "192.0.2.1" },
          "This name is edge-terminated (gelb): ",
          "Dieser Name endet am Edge (gelb): "
        ],
        [{}, "This name is end-to-end (gruen): ", "Dieser Name ist Ende-zu-Ende verschlüsselt (gruen): "]
      ] as const)
        for (const [language, sentence] of [
          ["en", english],
          ["de", german]
        ] as const) {
          const headers = { "accept-language": language, ...forwarded }
          assert.include(await (await fetch(`http://127.0.0.1:${port}/`, { headers })).text(), `<p>${sentence}`)
        }
    } finally {
      await close()
    }
  })
})
