import * as Certificate from "@catenet/crypto/x509/Certificate"
import { type Leaf, makeAuthority } from "@catenet/testing/agent/Authority"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { generateKeyPairSync } from "node:crypto"
import * as CertificatePair from "../../src/tunnel/CertificatePair.ts"

const authority = makeAuthority()
const first = authority.leaf("first.example")
const second = authority.leaf("second.example")

/** A pair whose life is from 1970 on, when a test's clock begins. */
const living = (seconds: number): Leaf => {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const validity = { from: 0, until: seconds * 1000 }
  return {
    cert: Certificate.pem(Certificate.mintLeaf("root", key, key, ["first.example"], validity)),
    key: key.export({ format: "pem", type: "pkcs8" }).toString()
  }
}

const stage = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const files = { certificate: `${folder}/cert.pem`, key: `${folder}/key.pem`, isAwaited: true }
  let age = 0
  /** Every write has a modification time of its own. */
  const write = Effect.fnUntraced(function* ({ cert, key }: Leaf) {
    yield* fs.writeFileString(files.certificate, cert)
    yield* fs.writeFileString(files.key, key)
    age++
    for (const path of [files.certificate, files.key])
      yield* fs.utimes(path, new Date(age * 1000), new Date(age * 1000))
  })
  return { files, write }
})

const run = <A, E>(body: Effect.Effect<A, E, FileSystem.FileSystem | Effect.Services<typeof stage>>) =>
  body.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("the certificate pair", () => {
  it.effect("is loaded again after 30 seconds when it has changed, and only then", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        yield* write(first)
        const current = yield* CertificatePair.watch(files)
        const initial = yield* current
        yield* write(second)
        yield* TestClock.adjust("29 seconds")
        assert.strictEqual(yield* current, initial)
        yield* TestClock.adjust("1 second")
        const next = yield* current
        assert.notStrictEqual(next, initial)
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(yield* current, next)
      })
    )
  )

  it.effect("that lives for minutes is looked at sooner: six minutes, every 18 seconds", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        yield* write(living(360))
        const current = yield* CertificatePair.watch(files)
        const initial = yield* current
        yield* write(living(361))
        yield* TestClock.adjust("17 seconds")
        assert.strictEqual(yield* current, initial)
        yield* TestClock.adjust("1 second")
        assert.notStrictEqual(yield* current, initial)
      })
    )
  )

  it.effect("is replaced also after the clock was set back by a year, and forward", () =>
    run(
      Effect.gen(function* () {
        const year = 31_536_000_000
        const { files, write } = yield* stage
        yield* TestClock.setTime(2 * year)
        yield* write(first)
        const current = yield* CertificatePair.watch(files)
        const initial = yield* current
        yield* TestClock.setTime(year)
        yield* write(second)
        const next = yield* current
        assert.notStrictEqual(next, initial)
        assert.strictEqual(yield* current, next)
        yield* TestClock.setTime(2 * year)
        yield* write(first)
        assert.notStrictEqual(yield* current, next)
      })
    )
  )

  it.effect("that has ended goes on in use, and is said once", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        yield* write(living(360))
        const current = yield* CertificatePair.watch(files)
        const initial = yield* current
        yield* TestClock.adjust("361 seconds")
        assert.strictEqual(yield* current, initial)
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* current, initial)
        const said = (yield* TestConsole.logLines).map(String).filter((line) => line.includes("ended at"))
        assert.lengthOf(said, 1)
        assert.include(
          said[0],
          `${files.certificate} ended at 1970-01-01T00:06:00.000Z by this machine's clock. Renew it`
        )
      })
    )
  )

  it.effect("stays in use when its replacement is unusable", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        yield* write(first)
        const current = yield* CertificatePair.watch(files)
        const initial = yield* current
        yield* write({ cert: second.cert, key: first.key })
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(yield* current, initial)
        yield* write(second)
        yield* TestClock.adjust("30 seconds")
        assert.notStrictEqual(yield* current, initial)
      })
    )
  )

  it.effect("is not there before the first issuance, and is taken by the first connection after it", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        const fs = yield* FileSystem.FileSystem
        const current = yield* CertificatePair.watch(files)
        assert.isUndefined(yield* current)
        // The key is put in its place before the chain.
        yield* fs.writeFileString(files.key, first.key)
        assert.isUndefined(yield* current)
        yield* write(first)
        const pair = yield* current
        assert.isDefined(pair)
        assert.strictEqual(yield* current, pair)
      })
    )
  )

  it.effect("that is there but cannot be used is no pair that is still to come", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        yield* write({ cert: first.cert, key: second.key })
        const { message } = yield* Effect.flip(CertificatePair.watch(files))
        assert.include(message, "does not belong to the first certificate")
      })
    )
  )

  it.effect("is refused at the start with the variable and the file that is wrong", () =>
    run(
      Effect.gen(function* () {
        const { files, write } = yield* stage
        const problem = Effect.map(Effect.flip(CertificatePair.load(files)), ({ message }) => message)
        assert.include(yield* problem, "CT_AGENT_TLS_CERT")
        yield* write({ cert: "nothing", key: first.key })
        assert.include(yield* problem, `there is no certificate in ${files.certificate}`)
        yield* write({ cert: first.cert, key: "nothing" })
        assert.include(yield* problem, `there is no private key in ${files.key}`)
        yield* write({ cert: first.cert, key: second.key })
        assert.include(yield* problem, "does not belong to the first certificate")
      })
    )
  )
})
