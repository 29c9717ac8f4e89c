/** `/install.sh`, run by a shell against a release whose binary is a script. */
import { native } from "@catenet/crypto/native"
import * as Asset from "@catenet/crypto/release/Asset"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { execFile, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Ports from "../../../stack/src/Ports.ts"

const folder = mkdtempSync(join(tmpdir(), "catenet-install-"))
const releases = join(folder, "releases")
const asset = Asset.nameFor(process.platform, process.arch) ?? ""
const seed = Redacted.make(new Uint8Array(32).fill(7))
const keyOf = (byte: number) => Buffer.from(native.ed25519.publicKey(new Uint8Array(32).fill(byte))).toString("hex")
const sha256 = (content: string) => createHash("sha256").update(content).digest("hex")

interface Wrong {
  readonly asset?: string
  readonly digest?: string
  readonly signature?: string | undefined
  readonly tag?: string
  readonly listed?: string
  readonly content?: string
}

/** A release, correct but for what is wrong with it. */
const publish = (version: string, wrong: Wrong = {}) => {
  const place = join(releases, version)
  const content = wrong.content ?? `#!/bin/sh\necho "ct-agent ${version}"\n`
  const tag = wrong.tag ?? `v${version}`
  const assets = { [wrong.listed ?? asset]: sha256(content) }
  const manifest = JSON.stringify({ assets, created_at: 1, schema: 1, tag })
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, "release-manifest.json"), manifest)
  const signature = "signature" in wrong ? wrong.signature : ReleaseManifest.sign(native, seed, Buffer.from(manifest))
  if (signature !== undefined) writeFileSync(join(place, "release-manifest.sig"), `${signature}\n`)
  writeFileSync(join(place, `${asset}.sha256`), `${wrong.digest ?? sha256(content)}  ${asset}\n`)
  writeFileSync(join(place, asset), wrong.asset ?? content)
}

mkdirSync(releases)
publish("1.0.0")
publish("1.1.0")
publish("0.1.1", { asset: "#!/bin/sh\necho evil\n" })
publish("0.1.2", { digest: "0".repeat(64) })
publish("0.1.3", { signature: undefined })
publish("0.1.4", { signature: Buffer.from(new Uint8Array(64).fill(1)).toString("base64") })
publish("0.1.5", { signature: "no base64!" })
publish("0.1.6", { listed: "ct-agent-plan9-mips" })
publish("0.1.7", { tag: "$(id)" })
publish("0.1.8", { content: "#!/bin/sh\nexit 1\n" })

/** A folder with links to some programs and no others. */
const onlyWith = (...programs: ReadonlyArray<string>) => {
  const bin = mkdtempSync(join(folder, "bin-"))
  for (const name of [
    "sh",
    "uname",
    "mktemp",
    "sed",
    "cut",
    "head",
    "tr",
    "id",
    "mkdir",
    "cp",
    "chmod",
    "mv",
    "rm",
    "grep",
    ...programs
  ]) {
    const found = ["/usr/bin", "/bin"].map((path) => join(path, name)).find((path) => existsSync(path))
    if (found !== undefined) symlinkSync(found, join(bin, name))
  }
  return bin
}

interface Ran {
  readonly code: number
  readonly said: string
  readonly installed: string | undefined
  readonly left: ReadonlyArray<string>
}

const run = (script: string, env: Readonly<Record<string, string>>, before?: string) =>
  Effect.callback<Ran>((resume) => {
    const home = mkdtempSync(join(folder, "home-"))
    const bin = join(home, "bin")
    const place = join(bin, "ct-agent")
    if (before !== undefined) {
      mkdirSync(bin)
      writeFileSync(place, before)
      chmodSync(place, 0o755)
    }
    const variables = { PATH: process.env["PATH"] ?? "", HOME: home, CT_INSTALL_DIR: bin, ...env }
    const child = execFile("/bin/sh", { env: variables }, (error, _stdout, said) => {
      const code = typeof error?.code === "number" ? error.code : 0
      const installed = existsSync(place) ? readFileSync(place, "utf8") : undefined
      resume(Effect.succeed({ code, said, installed, left: existsSync(bin) ? readdirSync(bin) : [] }))
    })
    child.stdin?.end(script)
  })

const scriptOf = Effect.flatMap(TestServer.raw("/install.sh"), (response) => Effect.promise(() => response.text()))

/** It is in the script before the server listens. */
const port = await Effect.runPromise(Ports.freePort("127.0.0.1"))

const served = TestServer.layer({
  CT_CONTROL_PLANE_LISTEN: `127.0.0.1:${port}`,
  CT_CP_AGENTS_URL: `http://127.0.0.1:${port}`,
  CT_CP_RELEASES_DIR: releases,
  CT_CP_RELEASE_PUBKEY: `${keyOf(8)}, ${keyOf(7)}`
})

describe.skipIf(process.platform === "win32")("install.sh", () => {
  layer(served, { excludeTestServices: true, timeout: "120 seconds" })("on a machine with a shell", (it) => {
    it.effect("installs the newest release, over an older one, or the one that is wanted", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        const first = yield* run(script, {})
        assert.deepStrictEqual([first.code, first.left], [0, ["ct-agent"]], first.said)
        assert.include(first.installed, "ct-agent 1.1.0")
        assert.match(first.said, /ct-agent 1\.1\.0 is installed as \S+\/ct-agent\.\n.* is not in PATH/u)
        assert.notInclude(first.said, "signature")
        const older = yield* run(script, { CT_INSTALL_VERSION: "1.0.0" }, "#!/bin/sh\necho before\n")
        assert.include(older.installed, "ct-agent 1.0.0", older.said)
      })
    )

    it.effect("refuses what does not verify, with a sentence, and leaves the program as it was", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        const before = "#!/bin/sh\necho before\n"
        const refused = (version: string, why: RegExp, env: Readonly<Record<string, string>> = {}) =>
          Effect.map(
            run(script, { CT_INSTALL_VERSION: version, ...env }, before),
            ({ code, installed, left, said }) => {
              assert.match(said, why, version)
              assert.deepStrictEqual([code, installed, left], [1, before, ["ct-agent"]], version)
            }
          )
        yield* Effect.all(
          [
            refused("0.1.1", /does not have the digest that the release names/u),
            refused("0.1.2", /does not have the digest of ct-agent-\S+\.sha256/u),
            refused("0.1.3", /the release has no signature/u),
            refused("0.1.4", /by none of the keys/u),
            refused("0.1.5", /cannot be read|by none of the keys/u),
            refused("0.1.6", /version 0\.1\.6 has no ct-agent-/u),
            refused("0.1.7", /cannot be read/u),
            refused("0.1.8", /does not run on this machine/u),
            refused("7.7.7", /has no such release. With Node 26 and npm: npx --yes http/u),
            refused("1.1.0", /it needs curl or wget/u, { PATH: onlyWith("sha256sum") }),
            refused("1.1.0", /it needs sha256sum, shasum or openssl/u, { PATH: onlyWith("curl") })
          ],
          { concurrency: 4 }
        )
      })
    )

    it.effect("says that it did not check the signature where there is no openssl", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        const without = { PATH: onlyWith("curl", "sha256sum") }
        const ran = yield* run(script, without)
        assert.strictEqual(ran.code, 0, ran.said)
        assert.include(ran.said, "the digest is checked, the signature is not")
        assert.strictEqual((yield* run(script, { ...without, CT_INSTALL_VERSION: "0.1.1" })).code, 1)
      })
    )

    it.effect("is a script of POSIX in which shellcheck finds nothing", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        const checked = (command: string, ...args: ReadonlyArray<string>) => {
          const { error, status, stderr, stdout } = spawnSync(command, args, { input: script, encoding: "utf8" })
          if (error === undefined) assert.deepStrictEqual([status, stdout, stderr], [0, "", ""], command)
          else process.stderr.write(`SKIPPED: there is no ${command} to check install.sh with.\n`)
        }
        checked("dash", "-n")
        checked("shellcheck", "--shell=sh", "-")
      })
    )

    it.effect("makes no service where it is said not to, or where a folder is named", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        for (const env of [{}, { CT_INSTALL_SERVICE: "0" }]) {
          const { code, said } = yield* run(script, env)
          assert.strictEqual(code, 0, said)
          assert.notInclude(said, "service")
        }
      })
    )

    it.effect("does nothing when it was cut off on its way", () =>
      Effect.gen(function* () {
        const script = yield* scriptOf
        assert.match(script, /\nmain\n$/u)
        for (const part of [0.2, 0.5, 0.8, 0.99]) {
          const { installed } = yield* run(script.slice(0, Math.floor(script.length * part)), {})
          assert.isUndefined(installed, String(part))
        }
        assert.isUndefined((yield* run(script.replace(/\nmain\n$/u, "\n"), {})).installed)
      })
    )
  })
})
