/** The development authorities as a client of another maker finds them: `lego`, where it is installed. */
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { temporaryFolder } from "@catenet/testing/edge/TestEdge"
import * as BindServer from "@catenet/testing/server/dns/BindServer"
import { catenet } from "@catenet/testing/stack/e2e/Stack"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { generateKeyPairSync, X509Certificate } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { boundAccount, boundPath } from "../../src/acme/AcmeRequest.ts"
import { freePort } from "../../src/Ports.ts"
import * as GoPrograms from "./GoPrograms.ts"

const host = "app.zone.test"
const day = 86_400_000
const isInstalled = spawnSync("lego", ["--version"]).status === 0
if (!isInstalled) GoPrograms.skipped("the development authorities", "there is no `lego` on PATH")
if (!BindServer.isInstalled) GoPrograms.skipped("lego by DNS-01", "there is no `named` on PATH")

/** `catenet acme`, and lego at it. */
const start = Effect.fnUntraced(function* (nameServer: string | undefined) {
  const folder = yield* temporaryFolder
  const at = (name: string) => join(folder, name)
  const now = yield* Clock.currentTimeMillis
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
  const root = Certificate.mintRoot("Development root", key, { from: now - day, until: now + 365 * day })
  writeFileSync(at("root.pem"), Certificate.pem(root))
  writeFileSync(at("root.key"), key.export({ type: "pkcs8", format: "pem" }))
  const [port, tlsPort] = yield* Effect.replicateEffect(freePort("127.0.0.1"), 2)
  const hmac = Buffer.alloc(32, 7).toString("base64url")
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      catenet(["acme"], {
        CT_ACME_SERVER_LISTEN: `127.0.0.1:${port}`,
        CT_ACME_SERVER_ROOT: at("root.pem"),
        CT_ACME_SERVER_ROOT_KEY: at("root.key"),
        CT_ACME_SERVER_FRONT_DOOR: `127.0.0.1:${tlsPort}`,
        CT_ACME_SERVER_EAB_HMAC: hmac,
        ...(nameServer === undefined ? {} : { CT_ACME_SERVER_DNS: nameServer })
      })
    ),
    (started) => Effect.promise(() => started.stop("SIGKILL"))
  )
  yield* Effect.promise(() => server.printed("certificate authorities ready"))
  const lego = (path: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
    const all = ["--path", at("lego"), "--server", `https://localhost:${port}${path}/directory`, "--accept-tos"]
    const name = ["--email", "owner@zone.test", "--domains", host]
    return Effect.promise(() =>
      promisify(execFile)("lego", [...all, ...name, ...args], {
        env: { PATH: process.env["PATH"], LEGO_CA_CERTIFICATES: at("root.pem"), ...env }
      })
    )
  }
  return {
    lego,
    byTls: ["--tls", "--tls.port", `127.0.0.1:${tlsPort}`],
    bound: ["--eab", "--kid", boundAccount, "--hmac", hmac],
    certificate: () => new X509Certificate(readFileSync(at(`lego/certificates/${host}.crt`))),
    verified: () => {
      const chain = at(`lego/certificates/${host}.crt`)
      const args = ["verify", "-CAfile", at("root.pem"), "-verify_hostname", host, chain]
      return execFileSync("openssl", args).toString()
    }
  }
})

describe.skipIf(!isInstalled)("the development authorities serve lego", () => {
  it.live("with an account that is bound to the operator's, by TLS-ALPN-01, and once more to renew", () =>
    Effect.gen(function* () {
      const { bound, byTls, certificate, lego, verified } = yield* start(undefined)
      yield* lego(boundPath, [...bound, ...byTls, "run"])
      assert.include(verified(), ": OK")
      const first = certificate().fingerprint256
      yield* lego(boundPath, [...bound, ...byTls, "renew", "--days", "1000", "--no-random-sleep"])
      assert.include(verified(), ": OK")
      assert.notStrictEqual(certificate().fingerprint256, first)
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!BindServer.isInstalled)("by DNS-01, looked up at a name server that lego updates", () =>
    Effect.gen(function* () {
      const names = yield* BindServer.start
      const server = `127.0.0.1:${names.port}`
      const { lego, verified } = yield* start(server)
      yield* lego("", ["--dns", "rfc2136", "--dns.resolvers", server, "--dns.disable-cp", "run"], {
        RFC2136_NAMESERVER: server,
        RFC2136_TSIG_KEY: names.key.name,
        RFC2136_TSIG_ALGORITHM: "hmac-sha256.",
        RFC2136_TSIG_SECRET: Buffer.from(Redacted.value(names.key.secret)).toString("base64")
      })
      assert.include(verified(), ": OK")
    }).pipe(Effect.scoped)
  )
})
