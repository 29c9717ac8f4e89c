/**
 * The script that makes invite lines in browsers is made from the sources of the command (UPDATE_GENERATED=1 makes it anew),
 * and makes the bytes that the command makes.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import { native } from "@catenet/crypto/native"
import { Redacted, Result } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { createContext, runInContext } from "node:vm"
import { rolldown } from "rolldown"
import { assert, describe, it } from "vitest"
import { text } from "../../../src/portal/invite/InviteScript.generated.ts"

const folder = new URL("../../../src/portal/invite/", import.meta.url)
const generated = new URL("InviteScript.generated.ts", folder)
const head = `/** Made from \`Worker.ts\` and what it imports, by the test \`InviteScript.test.ts\` with UPDATE_GENERATED=1. */\n`

const of = (byte: string) => byte.repeat(32)
const bytesOf = (hex: string) => Result.getOrThrow(Hex.decode(hex, 32))
const secretOf = (hex: string) => Redacted.make(bytesOf(hex))
const seed = of("5a")
const operator = Hex.encode(native.ed25519.publicKey(bytesOf(seed)))
const place = [
  ["CT_CHANNEL_BROKER", "edge.example.net:4435"],
  ["CT_CHANNEL_RELAY_ONLY", "1"]
] as const

/** The worker, as a browser runs it. */
const worker = () => {
  const waiting: Array<(answer: Readonly<Record<string, string>>) => void> = []
  let listen: (event: { readonly data: object }) => void = () => {}
  const context = createContext({
    addEventListener: (_: string, listener: typeof listen) => (listen = listener),
    postMessage: (answer: Readonly<Record<string, string>>) => waiting.shift()?.(answer),
    TextEncoder,
    TextDecoder,
    atob,
    btoa,
    crypto
  })
  runInContext(text, context)
  return (data: object) =>
    new Promise<Readonly<Record<string, string>>>((resolve) => {
      waiting.push(resolve)
      listen({ data })
    })
}

const fileOf = (contents: string) => ({ size: contents.length, text: () => Promise.resolve(contents) })
const wish = {
  kind: "prepare",
  file: fileOf(`export CT_CHANNEL_OPERATOR_KEY=${seed}\n`),
  operator,
  channel: of("c1"),
  holderKey: of("48"),
  key: of("6b"),
  days: 90,
  now: 1_800_000_000,
  place
}

describe("the script that makes invite lines", () => {
  it("is compiled from the code of the command, and asks for nothing", async () => {
    const bundle = await rolldown({
      input: new URL("Worker.ts", folder).pathname,
      platform: "browser",
      logLevel: "warn"
    })
    const { output } = await bundle.generate({ format: "es", minify: true })
    await bundle.close()
    const [{ code, imports }] = output
    assert.deepStrictEqual([output.length, imports], [1, []], "one script that loads no other")
    assert.notMatch(code, /\b(?:fetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource|importScripts)\b|\bimport\(/u)
    const ascii = JSON.stringify(code).replaceAll(
      /[^\0-\x7f]/gu,
      (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
    )
    const wanted = `${head}export const text =\n  ${ascii}\n`
    if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(generated, wanted)
    assert.isTrue(readFileSync(generated, "utf8") === wanted, "make it anew with UPDATE_GENERATED=1")
  })

  it("makes the bytes that the command makes, for each side and use", async () => {
    const ask = worker()
    for (const direction of ["initiate", "accept"] as const)
      for (const use of ["mcp", "variables"] as const) {
        const prepared = PreparedMembership.prepare(native, secretOf(seed), {
          use,
          channel: bytesOf(of("c1")),
          direction,
          holderKey: secretOf(of("48")),
          days: 90,
          now: 1_800_000_000n,
          place
        })
        const secret = PreparedMembership.seal(native, secretOf(of("6b")), prepared)
        assert.deepStrictEqual({ ...(await ask({ ...wish, direction, use })) }, { secret })
      }
    const minted = { kind: "write", controlPlane: "https://cp.example", token: of("74"), key: of("6b") }
    const link = InviteLink.write({
      controlPlane: "https://cp.example",
      token: secretOf(of("74")),
      key: secretOf(of("6b"))
    })
    assert.deepStrictEqual({ ...(await ask(minted)) }, { link })
  })

  it("finds the operator key among others, and refuses a file without it", async () => {
    const ask = worker()
    const asked = (contents: string) => ask({ ...wish, direction: "accept", use: "mcp", file: fileOf(contents) })
    assert.property(await asked(`A=${of("01")}\nCT_CHANNEL_OPERATOR_KEY=${seed.toUpperCase()}`), "secret")
    for (const contents of [
      "",
      `A=${of("01")}`,
      `A=0${seed}`,
      `A=${seed}0`,
      seed.slice(1),
      `${of("01")}\n`.repeat(32) + seed
    ])
      assert.deepStrictEqual({ ...(await asked(contents)) }, { refused: "key" }, contents.slice(0, 80))
    assert.deepStrictEqual({ ...(await asked(seed + " ".repeat(65_472))) }, { ...(await asked(seed)) })
    assert.deepStrictEqual({ ...(await asked(seed + " ".repeat(65_473))) }, { refused: "file" })
    assert.deepStrictEqual(
      { ...(await ask({ kind: "write", token: "xx", key: "", controlPlane: "" })) },
      { refused: "file" }
    )
  })
})
