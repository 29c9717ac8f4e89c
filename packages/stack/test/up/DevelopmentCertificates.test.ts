import * as Certificates from "@catenet/crypto/x509/Certificate"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect, createServer } from "node:tls"
import * as DevelopmentNames from "../../src/up/DevelopmentNames.ts"
import * as StackFolder from "../../src/up/StackFolder.ts"

const day = 86_400_000
const now = Date.parse("2026-03-01T00:00:00Z")

const folder = Effect.acquireRelease(
  Effect.sync(() => StackFolder.at(mkdtempSync(join(tmpdir(), "catenet-root-")))),
  ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
)

/** Why a client that trusts the root refuses a server of that name; undefined where it does not. */
const refusal = (root: string, key: string, host: string) =>
  Effect.callback<string | undefined>((resume) => {
    const own = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
    const validity = { from: Date.now() - day, until: Date.now() + day }
    const issuer = new X509Certificate(root).subject.replace(/^CN=/, "")
    const cert = Certificates.pem(Certificates.mintLeaf(issuer, createPrivateKey(key), own, [host], validity))
    const server = createServer({ cert, key: own.export({ type: "pkcs8", format: "pem" }) }, (socket) => socket.end())
    server.on("tlsClientError", () => {})
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const client = connect({ host: "127.0.0.1", port, servername: host, ca: root })
      client.once("secureConnect", () => resume(Effect.undefined))
      client.once("error", (error) => resume(Effect.succeed(String(error))))
    })
    return Effect.sync(() => server.close())
  })

describe("the development root", () => {
  it.live("signs only names of this machine", () =>
    Effect.gen(function* () {
      const place = yield* folder
      yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])
      const root = readFileSync(place.developmentRoot, "utf8")
      const key = readFileSync(place.developmentRootKey, "utf8")
      for (const host of ["localhost", "hello.localhost", "a.b.localhost"])
        assert.isUndefined(yield* refusal(root, key, host), host)
      for (const host of ["www.example.com", "localhost.example.com", "notlocalhost", "com"])
        assert.match((yield* refusal(root, key, host)) ?? "", /permitted subtree violation/, host)
    }).pipe(Effect.scoped)
  )

  it.effect("is valid for a year, and its key is readable by its owner only", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const place = yield* folder
      yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])
      const { validTo } = new X509Certificate(readFileSync(place.developmentRoot))
      assert.strictEqual(Date.parse(validTo), now + 365 * day)
      assert.strictEqual(statSync(place.developmentRootKey).mode & 0o777, 0o600)
      chmodSync(place.developmentRootKey, 0o644)
      yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])
      assert.strictEqual(statSync(place.developmentRootKey).mode & 0o777, 0o600)
    }).pipe(Effect.scoped)
  )

  it.effect("is kept by later starts and replaced a month before it ends, with its leaf", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(now)
      const place = yield* folder
      assert.isFalse((yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])).renewed)
      const first = readFileSync(place.developmentRoot, "utf8")
      yield* TestClock.setTime(now + 334 * day)
      assert.isFalse((yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])).renewed)
      assert.strictEqual(readFileSync(place.developmentRoot, "utf8"), first)
      yield* TestClock.setTime(now + 336 * day)
      assert.isTrue((yield* DevelopmentNames.ensureDevelopmentCertificates(place, ["localhost"])).renewed)
      const second = new X509Certificate(readFileSync(place.developmentRoot))
      assert.isTrue(new X509Certificate(readFileSync(place.wildcardCertificate)).verify(second.publicKey))
    }).pipe(Effect.scoped)
  )
})
