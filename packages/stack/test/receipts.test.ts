import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import { platformProgram } from "@catenet/testing/stack/PlatformProgram"
import { Redacted, Result } from "effect"
import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const folder = mkdtempSync(join(tmpdir(), "catenet-receipts-"))
const seed = Redacted.make(new Uint8Array(32).fill(7))
const pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(seed)))
const chain = { edgeId: "primary", routingTokenHash: "ab".repeat(32) }

const receiptsOf = (sessions: number): ReadonlyArray<Receipt.Receipt> => {
  const all: Array<Receipt.Receipt> = []
  const add = (ts: bigint, event: Receipt.Event) =>
    all.push(Result.getOrThrow(Receipt.append(native, seed, chain, all.at(-1) ?? Receipt.genesis, ts, event)))
  for (let index = 0n; index < BigInt(sessions); index++) {
    const connectedAt = 1000n + index * 100n
    add(connectedAt, Receipt.sessionOpen({ connectedAt, transport: "tcp-fallback" }))
    add(
      connectedAt + 50n,
      Receipt.sessionClose({
        connectedAt,
        disconnectedAt: connectedAt + 50n,
        bytesIn: 3n,
        bytesOut: 2n ** 60n,
        reason: "registration-closed"
      })
    )
  }
  return all
}

const all = receiptsOf(3)
const header = { pubkey, edgeId: "primary", tunnel: "demo" }

const verify = (content: string, ...flags: ReadonlyArray<string>) => {
  const file = join(folder, `${randomUUID()}.jsonl`)
  writeFileSync(file, content)
  return run("verify", file, ...flags)
}

const run = (...args: ReadonlyArray<string>) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [platformProgram, "receipts", ...args], (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    )
  })

const text = (receipts: ReadonlyArray<Receipt.Receipt>) => Export.write({ header, receipts })

describe("catenet receipts verify", () => {
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("prints the totals of a valid chain", async () => {
    const { code, stdout } = await verify(text(all))
    assert.strictEqual(code, 0)
    assert.include(stdout, "3 opened, 3 closed")
    assert.include(stdout, `9 to the tunnel, ${3n * 2n ** 60n} from it`)
    assert.include(stdout, "with the first receipt of the chain")
  })

  it("prints the signed edge id without control characters", async () => {
    const other = { pubkey, edgeId: "another", tunnel: "demo\u001b[2J" }
    const { code, stdout } = await verify(Export.write({ header: other, receipts: all }))
    assert.strictEqual(code, 0)
    assert.include(stdout, "of edge primary.")
    assert.include(stdout, "demo\ufffd[2J, as the file calls it")
  })

  it("accepts an empty export, and a segment after its anchor", async () => {
    assert.strictEqual((await verify(text([]))).code, 0)
    const segment = text(all.slice(2))
    assert.strictEqual((await verify(segment, "--anchor", all[1]?.hash ?? "", "--key", pubkey)).code, 0)
    assert.strictEqual((await verify(segment, "--anchor", all[0]?.hash ?? "")).code, 1)
  })

  it("refuses a gap, a changed number and a foreign key with 1, and names the receipt", async () => {
    const gap = await verify(text([...all.slice(0, 2), ...all.slice(3)]))
    assert.strictEqual(gap.code, 1)
    assert.include(gap.stderr, "receipt 4 where 3 should follow")
    assert.strictEqual((await verify(text(all).replace('"bytes_in":3', '"bytes_in":4'))).code, 1)
    const other = Hex.encode(native.ed25519.publicKey(new Uint8Array(32).fill(8)))
    assert.strictEqual((await verify(text(all), "--key", other)).code, 1)
  })

  it("reports a time that no calendar holds", async () => {
    const far = Receipt.sessionOpen({ connectedAt: 2n ** 63n, transport: "mux" })
    const one = Result.getOrThrow(Receipt.append(native, seed, chain, Receipt.genesis, 2n ** 63n, far))
    const { code, stdout } = await verify(text([one]))
    assert.strictEqual(code, 0)
    assert.include(stdout, `1 (second ${2n ** 63n})`)
  })

  it("does not read a file of more than 256 MB", async () => {
    const file = join(folder, "huge.jsonl")
    writeFileSync(file, text(all))
    truncateSync(file, 256 * 1024 * 1024 + 1)
    const { code, stderr } = await run("verify", file)
    assert.strictEqual(code, 2)
    assert.include(stderr, `${file} is larger than 256 MB; export fewer receipts at once by "since".`)
  })

  it("answers wrong usage and files that are no export with 2", async () => {
    assert.strictEqual((await run("verify", join(folder, "no-such-file"))).code, 2)
    assert.strictEqual((await verify("")).code, 2)
    assert.strictEqual((await verify("not json\n")).code, 2)
    assert.strictEqual((await verify(text(all), "--key", "zz")).code, 2)
    assert.strictEqual((await run("verify")).code, 2)
  })
})
