/** `ct-agent offer`: the signed offer by the facts, and what `--verify` says of good and bad ones. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { createPrivateKey, createPublicKey, verify } from "node:crypto"
import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const seed = "2e".repeat(32)
const key = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${seed}`, "hex"),
  format: "der",
  type: "pkcs8"
})
const holder = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
const env = {
  CT_CHANNEL_HOLDER_KEY: seed,
  CT_AGENT_OFFER_KIND: "local",
  CT_AGENT_OFFER_MODELS: "m1,m2",
  CT_AGENT_OFFER_UNITS: "18446744073709551615",
  CT_AGENT_OFFER_MIN_PRICE: "50",
  CT_AGENT_OFFER_CURRENCY: "EUR",
  CT_AGENT_OFFER_SERVICES: "text_generation,Ray tracing"
}

/** The signed bytes, put together from the facts (signed-bytes.md 8.1) and by the runtime alone. */
const preimage = (issued: bigint, expires: bigint) => {
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer)
  const u64 = (value: bigint) => Buffer.from(BigUint64Array.of(value).buffer)
  const text = (value: string) => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)])
  return Buffer.concat([
    text("ct-capacity-offer-v1"),
    Buffer.from(holder, "hex"),
    Buffer.of(1),
    u32(2),
    text("m1"),
    text("m2"),
    u64(2n ** 64n - 1n),
    u64(50n),
    text("EUR"),
    u64(issued),
    u64(expires),
    u32(2),
    Buffer.of(3),
    Buffer.of(4),
    text("Ray tracing")
  ])
}

const run = async (path: string, args: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) => {
  await using agent = runAgent({ path } as never, variables, ["offer", ...args])
  return { code: await agent.exited, stdout: agent.stdout(), said: agent.lines.join("\n") }
}

describe.concurrent("ct-agent offer", () => {
  it("prints one line, signed by the holder over the bytes of the facts, and verifies it", async () => {
    await using home = await makeHome()
    const printed = await run(home.path, [], env)
    assert.deepStrictEqual([printed.code, printed.said], [0, ""])
    const line = new RegExp(
      `^\\{"holder_pubkey":"${holder}","kind":"LocalHardware","models":\\["m1","m2"\\],"units_available":18446744073709551615,` +
        `"min_price":50,"currency_id":"EUR","issued_at":(\\d+),"expires_at":(\\d+),` +
        `"services":\\["TextGeneration",\\{"Custom":"Ray tracing"\\}\\],"signature":"([0-9a-f]{128})"\\}\\n$`,
      "u"
    )
    const [, issued = "", expires = "", signature = ""] = line.exec(printed.stdout) ?? assert.fail(printed.stdout)
    assert.strictEqual(BigInt(expires) - BigInt(issued), 86_400n)
    assert.isTrue(
      verify(null, preimage(BigInt(issued), BigInt(expires)), createPublicKey(key), Buffer.from(signature, "hex"))
    )

    const file = (name: string, text: string) => {
      writeFileSync(join(home.path, name), text)
      return run(home.path, ["--verify", name])
    }
    const { stdout: text } = printed
    const good = await file("good", text)
    const figures = `kind=LocalHardware  units=18446744073709551615  min_price=50  expires_at=${expires}`
    assert.deepStrictEqual(good, { code: 0, stdout: `valid  holder=${holder}  ${figures}\n`, said: "" })
    const bad = await Promise.all([
      file("cheaper", text.replace('"min_price":50', '"min_price":5')),
      file("expired", text.replace(`"expires_at":${expires}`, '"expires_at":1')),
      file("cut", text.slice(0, -3))
    ])
    assert.deepStrictEqual(
      bad.map(({ code, stdout }) => [code, stdout]),
      [1, 1, 1].map((code) => [code, ""])
    )
    for (const [at, why] of ["its signature does not verify", "it has expired", "cut is no valid offer"].entries())
      assert.include(bad[at]?.said, why)
    assert.deepStrictEqual(readdirSync(home.path).toSorted(), ["cheaper", "cut", "expired", "good"])
  })

  it("names what is missing together, and what is wrong", async () => {
    await using home = await makeHome()
    const { CT_AGENT_OFFER_CURRENCY: _, CT_AGENT_OFFER_UNITS: __, ...part } = env
    const [missing, wrong] = await Promise.all([
      run(home.path, [], part),
      run(home.path, [], { ...env, CT_AGENT_OFFER_UNITS: "18446744073709551616" })
    ])
    assert.deepStrictEqual([missing.code, missing.stdout, wrong.code, wrong.stdout], [3, "", 3, ""])
    for (const name of ["CT_AGENT_OFFER_CURRENCY is not set", "CT_AGENT_OFFER_UNITS is not set"])
      assert.include(missing.said, name)
    assert.include(wrong.said, "CT_AGENT_OFFER_UNITS")
    assert.notInclude(missing.said + wrong.said, seed)
  })
})
