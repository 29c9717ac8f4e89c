import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { redact } from "../../src/values/Redaction.ts"

const hex = "0123456789abcdef".repeat(4)
const url = "S3cr3t_-".repeat(6).slice(0, 43)

describe("redaction", () => {
  it("takes out every form of secret, wherever it stands", () => {
    for (const [text, left] of [
      [`/authorize/${hex}`, "/authorize/<hex>"],
      [hex.toUpperCase() + "00", "<hex>"],
      [`/x/%30${hex.slice(1)}/y`, "/x/<hex>/y"],
      [`Authorization: bearer ${url}`, "Authorization: bearer <secret>"],
      [`/gate/start?return=%2F${url}%2Fb`, "/gate/start?return=%2F<secret>%2Fb"],
      [`/portal?next=%2Fportal%2Fclaim%3Finvite%3D${url}`, "/portal?next=%2Fportal%2Fclaim%3Finvite%3D<secret>"],
      [`/a?next=%252Fb%253Fcode%253Dhush-code&c=1`, "/a?next=%252Fb%253Fcode%253D<secret>&c=1"],
      [`{"path":"/gate/share?host=a&token=${url}&return=/"}`, '{"path":"/gate/share?host=a&token=<secret>&return=/"}'],
      [`cookie=${url};`, "cookie=<secret>;"],
      ["eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "<token>"],
      ["postgres://ada:p%40ss@db:5432/x", "postgres://ada:<secret>@db:5432/x"],
      ["/portal/callback?code=abc&state=def", "/portal/callback?code=<secret>&state=<secret>"]
    ] as const)
      assert.strictEqual(redact(text), left)
  })

  it("leaves ids, names, short digests and words", () => {
    for (const text of [
      "0123456789abcdef".repeat(2),
      "n-043a7187.example.test answered 502 in 12 ms",
      "3b241101-e2bb-4255-8caf-4136c566a962",
      "http://127.0.0.1:8090/realms/catenet/protocol/openid-connect/certs"
    ])
      assert.strictEqual(redact(text), text)
  })

  it.prop("leaves nothing to take out", [Schema.String], ([text]) => {
    const once = redact(`${text}${hex}${text}`)
    assert.notInclude(once, hex)
    assert.strictEqual(redact(once), once)
  })
})
