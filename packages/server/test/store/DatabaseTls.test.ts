/** A PostgreSQL with TLS, by all modes that libpq has, and what an operator reads where it does not work. */
import * as Certificates from "@catenet/crypto/x509/Certificate"
import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cluster from "../../../stack/src/postgres/Cluster.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/Database.ts"
import { migrateTo } from "../../src/store/Migrations.ts"

const keyText = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" })
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey

const anHour = Effect.map(Clock.currentTimeMillis, (now) => ({ from: now - 60_000, until: now + 3_600_000 }))

/** A server whose certificate is for `localhost`, not for its address. */
class TlsDatabase extends Context.Service<
  TlsDatabase,
  { readonly url: string; readonly root: string; readonly other: string }
>()("test/TlsDatabase") {
  static readonly layer = Layer.effect(
    TlsDatabase,
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-tls-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const validity = yield* anHour
      const [rootKey, key] = [newKey(), newKey()]
      const file = (name: string, text: string | Buffer) => {
        writeFileSync(join(folder, name), text)
        return join(folder, name)
      }
      const root = file("root.pem", Certificates.pem(Certificates.mintRoot("Test root", rootKey, validity)))
      const other = file("other.pem", Certificates.pem(Certificates.mintRoot("Other root", newKey(), validity)))
      const leaf = Certificates.pem(Certificates.mintLeaf("Test root", rootKey, key, ["localhost"], validity))
      const cluster = yield* Cluster.start({
        folder: join(folder, "data"),
        disposable: true,
        tls: { certificate: leaf, key: String(keyText(key)) }
      })
      return { url: Redacted.value(cluster.url("postgres")), root, other }
    })
  )
}

/** Which protocol the connection has, or the sentence that an operator reads. */
const outcome = (url: string, variables: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // The same as at a start; no migration is applied.
    yield* migrateTo(0)
    const [row] = yield* sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
    return row?.ssl === true ? "TLS" : "plain"
  }).pipe(
    Effect.provide(
      Database.layerClient.pipe(
        Layer.provide(Settings.layer),
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: url, CT_CP_DATABASE_POOL: "2", ...variables })
          )
        )
      )
    ),
    Effect.scoped,
    Effect.catch((error) => Effect.succeed(error instanceof Error ? error.message : String(error)))
  )

const named = (url: string, query: string) => `${url.replace("127.0.0.1", "localhost")}?${query}`

layer(TlsDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("TLS to the database", (it) => {
  it.effect("means by each mode what libpq means", () =>
    Effect.gen(function* () {
      const { other, root, url } = yield* TlsDatabase
      const rows: ReadonlyArray<readonly [string, RegExp]> = [
        [url, /^plain$/],
        [`${url}?sslmode=disable`, /^plain$/],
        [`${url}?sslmode=allow`, /^TLS$/],
        [`${url}?sslmode=prefer`, /^TLS$/],
        [`${url}?sslmode=require`, /^TLS$/],
        [`${url}?sslmode=no-verify`, /^TLS$/],
        [`${url}?sslmode=require&sslrootcert=${other}`, /is not trusted .* sslrootcert/],
        [`${url}?sslmode=require&sslrootcert=${root}`, /^TLS$/],
        [`${url}?sslmode=verify-ca`, /is not trusted/],
        [`${url}?sslmode=verify-ca&sslrootcert=system`, /is not trusted/],
        [`${url}?sslmode=verify-ca&sslrootcert=${root}`, /^TLS$/],
        [`${url}?sslmode=verify-full&sslrootcert=${root}`, /is for another name/],
        [named(url, `sslmode=verify-full&sslrootcert=${root}`), /^TLS$/],
        [`${url}?sslmode=sometimes`, /^CT_CP_DATABASE_URL has an sslmode that is none; take one of disable, /],
        [
          `${url}?sslmode=verify-ca&sslrootcert=/nowhere`,
          /^CT_CP_DATABASE_URL needs \/nowhere, its sslrootcert, which cannot be read \(ENOENT\); correct /
        ],
        [`${url}?sslmode=require&sslcert=${root}`, /has one of sslcert and sslkey/]
      ]
      for (const [address, expected] of rows) assert.match(yield* outcome(address), expected, address.slice(url.length))
    })
  )

  it.effect("is read from the environment where the URL says nothing", () =>
    Effect.gen(function* () {
      const { root, url } = yield* TlsDatabase
      assert.strictEqual(yield* outcome(url, { PGSSLMODE: "require" }), "TLS")
      assert.match(yield* outcome(url, { PGSSLMODE: "verify-full", PGSSLROOTCERT: root }), /is for another name/)
      assert.strictEqual(yield* outcome(`${url}?sslmode=disable`, { PGSSLMODE: "require" }), "plain")
      assert.match(yield* outcome(url, { PGSSLMODE: "maybe" }), /^PGSSLMODE is not /)
    })
  )

  it.effect("takes a certificate of ours whose key is for its owner alone", () =>
    Effect.gen(function* () {
      const { root, url } = yield* TlsDatabase
      const key = root.replace("root.pem", "client.key")
      const certificate = root.replace("root.pem", "client.pem")
      const own = newKey()
      const validity = yield* anHour
      writeFileSync(key, keyText(own), { mode: 0o644 })
      writeFileSync(certificate, Certificates.pem(Certificates.mintLeaf("Any", own, own, ["client"], validity)))
      const address = `${url}?sslmode=require&sslcert=${certificate}&sslkey=${key}`
      assert.match(
        yield* outcome(address),
        /^CT_CP_DATABASE_URL needs .*, its sslkey, which others may read; run chmod 600 /
      )
      chmodSync(key, 0o600)
      assert.strictEqual(yield* outcome(address), "TLS")
    })
  )

  it.effect("and everything that waiting does not mend is said at once", () =>
    Effect.gen(function* () {
      const { url } = yield* TlsDatabase
      const wrong = new URL(url)
      wrong.password = "wrong"
      assert.match(yield* outcome(wrong.href), /^The database does not let this role in \(password .*\); correct/)
      assert.match(yield* outcome(url.replace("/postgres", "/none")), /^There is no such database .* createdb/)
      const other = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"))
      yield* Effect.promise(() => new Promise<void>((resume) => other.listen(0, "127.0.0.1", resume)))
      const { port } = other.address() as AddressInfo
      assert.match(
        yield* outcome(`postgres://a:b@127.0.0.1:${port}/c?sslmode=require`),
        /^What answers at CT_CP_DATABASE_URL is no PostgreSQL/
      )
      other.close()
    })
  )
})
