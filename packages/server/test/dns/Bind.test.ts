/** The dynamic updates against BIND, where it is installed (`named` on PATH); skipped, and said so, where it is not. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { freePort } from "../../../stack/src/Ports.ts"
import { converged } from "../../src/dns/Convergence.ts"
import { exchange } from "../../src/dns/DnsExchange.ts"
import * as Message from "../../src/dns/DnsMessage.ts"
import * as Rfc2136 from "../../src/dns/Rfc2136.ts"

const isInstalled = spawnSync("named", ["-v"]).status === 0
const secret = Buffer.alloc(32, 9)

const bind = Effect.gen(function* () {
  const folder = mkdtempSync(join(tmpdir(), "catenet-bind-"))
  const port = yield* freePort("127.0.0.1")
  writeFileSync(
    join(folder, "zone"),
    `$TTL 60\n@ IN SOA ns.zone.test. a.zone.test. 1 60 60 60 60\n@ IN NS ns.zone.test.\nns IN A 127.0.0.1\n`
  )
  writeFileSync(
    join(folder, "named.conf"),
    `key "catenet" { algorithm hmac-sha256; secret "${secret.toString("base64")}"; };
options { directory "${folder}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; }; recursion no;
  pid-file "${folder}/pid"; session-keyfile "${folder}/session"; dnssec-validation no; };
controls { };
zone "zone.test" { type primary; file "zone"; update-policy { grant catenet zonesub TXT A AAAA; }; };`
  )
  yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof spawn>>((resume) => {
      const child = spawn("named", ["-g", "-c", join(folder, "named.conf"), "-n", "1"])
      // It has also said before that it is "running on Linux".
      createInterface({ input: child.stderr }).on("line", (line) => {
        if (line.endsWith(" running")) resume(Effect.succeed(child))
      })
      child.on("exit", (code) => resume(Effect.die(new Error(`named ended with ${code}`))))
    }).pipe(Effect.timeout("20 seconds"), Effect.orDie),
    (child) =>
      Effect.callback<void>((resume) => {
        child.removeAllListeners("exit").on("exit", () => {
          rmSync(folder, { recursive: true, force: true })
          resume(Effect.void)
        })
        child.kill("SIGTERM")
      })
  )
  return { host: "127.0.0.1", port }
})

describe("dynamic updates", () => {
  it.live.skipIf(!isInstalled)(
    "are taken by BIND, replace what was there, are seen and are taken back (needs `named` on PATH)",
    () =>
      Effect.gen(function* () {
        const server = yield* bind
        const key = { name: "catenet", secret: Redacted.make(Uint8Array.from(secret)) }
        const { set } = yield* Rfc2136.make({ server, zone: "zone.test", key })
        const name = "_acme-challenge.a.zone.test"
        for (const text of ["first-value", "second"]) {
          yield* set({ name, type: "TXT", values: [text] })
          yield* Effect.timeout(converged([server], name, text), "5 seconds")
        }
        const ask = exchange(server, Message.query(1, { name, type: Message.Type.TXT }))
        assert.strictEqual((yield* ask).answer.answers.length, 1)
        yield* set({ name, type: "TXT", values: [] })
        assert.strictEqual((yield* ask).answer.rcode, Message.Rcode.NxDomain)

        yield* set({ name: "a.zone.test", type: "A", values: ["192.0.2.1", "192.0.2.2"] })
        yield* set({ name: "a.zone.test", type: "AAAA", values: ["2001:db8::1"] })
        const addresses = (type: number) => exchange(server, Message.query(2, { name: "a.zone.test", type }))
        assert.strictEqual((yield* addresses(Message.Type.A)).answer.answers.length, 2)
        const [only] = (yield* addresses(Message.Type.AAAA)).answer.answers
        assert.deepStrictEqual(only?.data, Message.address("2001:db8::1"))

        const stranger = { ...key, secret: Redacted.make(new Uint8Array(32)) }
        const other = yield* Rfc2136.make({ server, zone: "zone.test", key: stranger })
        assert.include((yield* Effect.flip(other.set({ name, type: "TXT", values: ["x"] }))).message, "code 9")
        assert.include(
          (yield* Effect.flip(set({ name: "_acme-challenge.elsewhere.test", type: "TXT", values: ["x"] }))).message,
          "code 10"
        )
      }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto)),
    30_000
  )
})
