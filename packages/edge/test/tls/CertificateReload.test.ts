import * as Certificate from "@catenet/crypto/x509/Certificate"
import { temporaryFolder } from "@catenet/testing/edge/TestEdge"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as CertificateReload from "../../src/tls/CertificateReload.ts"

const life = { from: 0, until: Date.parse("2100-01-01T00:00:00Z") }

/** A pair in two files, the key under a passphrase as well. */
const written = (folder: string, name: string) => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const at = (end: string) => join(folder, `${name}.${end}`)
  writeFileSync(at("pem"), Certificate.pem(Certificate.mintRoot(name, key, life)))
  writeFileSync(at("key"), key.export({ type: "pkcs8", format: "pem" }))
  writeFileSync(at("locked"), key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }))
}

/** The reason that is logged for a pair; nothing where it is taken. */
const reasonOf = Effect.fnUntraced(function* (certificate: string, key: string) {
  const reasons: Array<unknown> = []
  const log = Logger.make(({ fiber }) => void reasons.push(fiber.getRef(References.CurrentLogAnnotations)["reason"]))
  yield* CertificateReload.follow({ certificate, key }).pipe(Effect.provide(Logger.layer([log])), Effect.scoped)
  return reasons[0]
})

describe("a certificate pair in two files", () => {
  it.effect("is taken, or what is wrong with which file is said with the next step", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const at = (name: string) => join(folder, name)
      written(folder, "a")
      written(folder, "b")
      writeFileSync(at("garbage"), "garbage")
      const said = (certificate: string, key: string) => reasonOf(at(certificate), at(key))
      assert.isUndefined(yield* said("a.pem", "a.key"))
      assert.strictEqual(
        yield* said("none", "a.key"),
        `${at("none")} cannot be read (ENOENT); correct the path or the rights`
      )
      assert.include(yield* said(".", "a.key"), "cannot be read (EISDIR)")
      assert.include(yield* said("garbage", "a.key"), "garbage holds no certificate; name a PEM file with one")
      assert.include(yield* said("a.pem", "garbage"), "garbage holds no private key; name a PEM file with one")
      assert.include(yield* said("a.pem", "a.locked"), "a.locked is encrypted; write it without a passphrase")
      assert.include(yield* said("a.pem", "b.key"), "b.key is not the key of")
    }).pipe(Effect.provide(NodeFileSystem.layer), Effect.scoped)
  )
})
