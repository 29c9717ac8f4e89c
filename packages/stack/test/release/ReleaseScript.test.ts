/** `npm run release`: the key, the list of a release byte for byte, and what it refuses. */
import { native } from "@catenet/crypto/native"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { Result } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const script = join(import.meta.dirname, "../../../../scripts/release.mjs")
const folder = mkdtempSync(join(tmpdir(), "catenet-release-test-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const release = (...args: ReadonlyArray<string>) => {
  const env = { ...process.env, SOURCE_DATE_EPOCH: "1700000000" }
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8", env })
  return { code: status, stdout, stderr }
}
const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex")

/** Of this platform as well, which takes a minute on a busy machine. */
const inFull = process.env["CATENET_UPDATES"] === "1"

describe("npm run release", () => {
  const key = join(folder, "release.key")
  const publicKey = release("keygen", "--key", key).stdout.trim()

  it("makes a key that its owner alone reads, prints its public half, and overwrites none", () => {
    const seed = readFileSync(key, "utf8")
    assert.match(seed, /^[0-9a-f]{64}\n$/u)
    assert.strictEqual(
      Buffer.from(native.ed25519.publicKey(Buffer.from(seed.trim(), "hex"))).toString("hex"),
      publicKey
    )
    if (process.platform !== "win32") assert.strictEqual(statSync(key).mode & 0o777, 0o600)
    const again = release("keygen", "--key", key)
    assert.deepInclude(again, { code: 1, stdout: "" })
    assert.include(again.stderr, "EEXIST")
    assert.strictEqual(readFileSync(key, "utf8"), seed)
    assert.deepInclude(release("keygen"), { code: 2, stdout: "" })
  })

  it("signs the list of a release: compact, keys sorted, exactly the bytes that are served", () => {
    const version = join(folder, "1.2.3")
    mkdirSync(version)
    for (const name of ["ct-agent-linux-x86_64", "agent.tgz", "ct-agent-windows-x86_64.exe"]) {
      writeFileSync(join(version, name), name)
      writeFileSync(join(version, `${name}.sha256`), `${sha256(name)}  ${name}\n`)
    }
    for (const name of ["ct-agent.cdx.json", ".sources"]) writeFileSync(join(version, name), "not listed")
    assert.deepInclude(release("sign", "--key", key, version), { code: 0, stderr: "" })
    const manifest = readFileSync(join(version, "release-manifest.json"))
    const signature = readFileSync(join(version, "release-manifest.sig"), "utf8")
    const listed = ["agent.tgz", "ct-agent-linux-x86_64", "ct-agent-windows-x86_64.exe"]
    const assets = listed.map((name) => `"${name}":"${sha256(name)}"`).join(",")
    assert.strictEqual(String(manifest), `{"assets":{${assets}},"created_at":1700000000,"schema":1,"tag":"v1.2.3"}`)
    assert.match(signature, /^[A-Za-z0-9+/]{86}==\n$/u)
    assert.isTrue(ReleaseManifest.isSignedBy(native, [Buffer.from(publicKey, "hex")], manifest, signature))
    assert.deepInclude(Result.getOrThrow(ReleaseManifest.parse(manifest)), { tag: "v1.2.3" })
    // The same release is the same bytes, and nothing is left over.
    const files = readdirSync(version)
    release("sign", "--key", key, version)
    assert.isTrue(readFileSync(join(version, "release-manifest.json")).equals(manifest))
    assert.strictEqual(readFileSync(join(version, "release-manifest.sig"), "utf8"), signature)
    assert.deepStrictEqual(readdirSync(version), files)
  })

  it("refuses what it cannot sign or build, and says why", () => {
    const other = join(folder, "other.key")
    writeFileSync(other, "no key\n")
    mkdirSync(join(folder, "next"))
    const cases: ReadonlyArray<readonly [ReadonlyArray<string>, number, RegExp]> = [
      [[], 2, /npm run release -- keygen/u],
      [["sign", "--key", key, join(folder, "next")], 2, /is not the folder of a version/u],
      [["sign", join(folder, "1.2.3")], 2, /--key is missing/u],
      [["sign", "--key", other, join(folder, "1.2.3")], 1, /has no release key: 64 hex digits are expected/u],
      [["sign", "--key", join(folder, "none"), join(folder, "1.2.3")], 1, /ENOENT/u],
      [["build", "--out", folder], 2, /--pubkey is missing/u],
      [["build", "--pubkey", publicKey], 2, /--out is missing/u],
      [["build", "--out", folder, "--pubkey", "zz"], 2, /64 hex digits/u],
      [["build", "--out", folder, "--pubkey", publicKey, "--only", "ct-agent-plan9-mips"], 2, /There is no asset/u]
    ]
    for (const [args, code, why] of cases) {
      const ran = release(...args)
      assert.match(ran.stderr, why, args.join(" "))
      assert.strictEqual(ran.code, code, args.join(" "))
    }
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../../agent/package.json"), "utf8"))
    mkdirSync(join(folder, version))
    const there = release("build", "--out", folder, "--pubkey", publicKey)
    assert.deepInclude(there, { code: 4, stdout: "" })
    assert.deepStrictEqual(readdirSync(join(folder, version)), [])
  })

  it.runIf(inFull && process.platform === "linux")("builds the program of this system, which runs", () => {
    const out = join(folder, "out")
    const asset = `ct-agent-linux-${process.arch === "x64" ? "x86_64" : "aarch64"}`
    const { code, stderr, stdout } = release("build", "--out", out, "--pubkey", publicKey, "--only", asset)
    assert.strictEqual(code, 0, stderr)
    const place = stdout.trim()
    assert.deepStrictEqual(readdirSync(place).sort(), ["agent.tgz", asset, `${asset}.sha256`])
    assert.strictEqual(
      readFileSync(join(place, `${asset}.sha256`), "utf8"),
      `${sha256(readFileSync(join(place, asset)))}  ${asset}\n`
    )
    for (const flag of ["--version", "--self-test"])
      assert.match(execFileSync(join(place, asset), [flag], { encoding: "utf8" }), /^ct-agent \d/u)
    assert.isTrue(readFileSync(join(place, asset)).includes(publicKey))
    assert.isFalse(existsSync(join(out, ".new")))
  })
})
