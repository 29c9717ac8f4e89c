import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, FileSystem, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import { connect, createServer, type TLSSocket } from "node:tls"
import { CertificateAuthority } from "../../src/ca/CertificateAuthority.ts"
import { Settings } from "../../src/settings/Settings.ts"

const authority = (folder: string) =>
  CertificateAuthority.layer.pipe(
    Layer.provide(Settings.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ CT_EDGE_CERT_OUT: `${folder}/out/root.der` })))
  )

const load = (folder: string) =>
  Effect.provide(CertificateAuthority, Layer.fresh(authority(folder))).pipe(
    Effect.provideService(References.MinimumLogLevel, "None")
  )

/** Ends a real handshake with the leaf; the name the client verified. */
const handshake = (ca: CertificateAuthority["Service"], servername: string, trusted = ca.root) =>
  Effect.callback<string, Error>((resume) => {
    const server = createServer({ ...ca.leaf.current, minVersion: "TLSv1.2" }, (socket) =>
      // A client that does not like the name leaves without reading what it was sent.
      socket.on("error", () => undefined)
    )
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" ? (address?.port ?? 0) : 0
      const root = `-----BEGIN CERTIFICATE-----\n${trusted.toString("base64")}\n-----END CERTIFICATE-----`
      const socket: TLSSocket = connect({ host: "127.0.0.1", port, servername, ca: root }, () =>
        resume(Effect.succeed(socket.authorized ? servername : "unverified"))
      )
      socket.on("error", (error) => resume(Effect.fail(error)))
    })
    return Effect.sync(() => server.close())
  })

describe("CertificateAuthority", () => {
  it.effect("keeps its root byte for byte over restarts, and its key readable by its owner only", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* TestClock.setTime(Duration.toMillis("20000 days"))
      const first = yield* load(folder)
      const second = yield* load(folder)
      assert.isTrue(first.root.equals(second.root))
      assert.isTrue(first.root.equals(yield* fs.readFile(`${folder}/out/root.der`)))
      assert.strictEqual((yield* fs.stat(`${folder}/out/edge-ca-key.pem`)).mode & 0o777, 0o600)
      const root = new X509Certificate(first.root)
      assert.isTrue(root.ca)
      assert.isTrue(root.verify(root.publicKey))
      assert.strictEqual(root.subject, "CN=ct-edge-ca")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("refuses a damaged file by its name and overwrites none", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* TestClock.setTime(Duration.toMillis("20000 days"))
      yield* load(folder)
      yield* fs.copyFile(`${folder}/out/edge-ca-key.pem`, `${folder}/out/edge-ca-key.old.pem`)
      for (const [name, sentence] of [
        ["edge-ca-cert.old.der", /edge-ca-cert\.old\.der beside it, which is not a certificate; restore it/],
        ["edge-ca-cert.der", /edge-ca-cert\.der beside it, which is not a certificate; restore it/],
        ["edge-ca-key.pem", /edge-ca-key\.pem beside it, which is not a private key in PEM; restore it/]
      ] as const) {
        yield* fs.writeFileString(`${folder}/out/${name}`, "torn")
        const refusal = yield* Effect.flip(load(folder))
        assert.match(refusal.message, /^CT_EDGE_CERT_OUT keeps /)
        assert.match(refusal.message, sentence)
        assert.strictEqual(yield* fs.readFileString(`${folder}/out/${name}`), "torn")
      }
      yield* fs.writeFileString(`${folder}/file`, "")
      const nowhere = yield* Effect.flip(load(`${folder}/file`))
      assert.match(
        nowhere.message,
        /^CT_EDGE_CERT_OUT keeps .*cannot be used \(ENOTDIR: not a directory\); name a file in a folder/
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("makes a new root when less than 91 days are left, with the same key", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* TestClock.setTime(Duration.toMillis("20000 days"))
      const old = yield* load(folder)
      yield* TestClock.adjust("3570 days")
      const fresh = yield* load(folder)
      assert.isFalse(old.root.equals(fresh.root))
      assert.strictEqual(
        new X509Certificate(old.root).publicKey.export({ format: "jwk" }).x,
        new X509Certificate(fresh.root).publicKey.export({ format: "jwk" }).x
      )
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("renews the leaf while it runs", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* TestClock.setTime(Duration.toMillis("20000 days"))
      const renewed = yield* Effect.gen(function* () {
        const living = yield* CertificateAuthority
        const before = living.leaf.current.cert
        yield* TestClock.adjust("31 days")
        return [before, living.leaf.current.cert] as const
      }).pipe(Effect.provide(Layer.fresh(authority(folder))))
      assert.notStrictEqual(renewed[0], renewed[1])
      const leaf = new X509Certificate(renewed[1])
      assert.strictEqual(leaf.subjectAltName, "DNS:localhost, DNS:edge-cdn.invalid")
      assert.strictEqual(leaf.validToDate.getTime(), Duration.toMillis("20120 days"))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is trusted by a TLS client that trusts only the root", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const ca = yield* load(folder)
      assert.strictEqual(yield* handshake(ca, "localhost"), "localhost")
      assert.strictEqual(yield* handshake(ca, "edge-cdn.invalid"), "edge-cdn.invalid")
      assert.match((yield* Effect.flip(handshake(ca, "example.test"))).message, /does not match/)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is trusted by clients of the old root and by clients of the new one", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const before = yield* load(folder)
      yield* fs.rename(`${folder}/out/edge-ca-key.pem`, `${folder}/out/edge-ca-key.old.pem`)
      yield* fs.rename(`${folder}/out/edge-ca-cert.der`, `${folder}/out/edge-ca-cert.old.der`)
      const after = yield* load(folder)
      assert.isFalse(after.root.equals(before.root))
      assert.strictEqual(yield* handshake(after, "localhost", before.root), "localhost")
      assert.strictEqual(yield* handshake(after, "localhost", after.root), "localhost")
      yield* fs.remove(`${folder}/out/edge-ca-key.old.pem`)
      const alone = yield* load(folder)
      assert.isTrue(alone.root.equals(after.root))
      assert.strictEqual(yield* handshake(alone, "localhost"), "localhost")
      yield* Effect.flip(handshake(alone, "localhost", before.root))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
