/** The dynamic updates against BIND, where it is installed (`named` on PATH); skipped, and said so, where it is not. */
import * as BindServer from "@catenet/testing/server/dns/BindServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DnsBackend from "../../src/dns/DnsBackend.ts"
import * as Message from "../../src/dns/DnsMessage.ts"
import { converged } from "../../src/dns/DnsPropagation.ts"
import { exchange } from "../../src/dns/DnsQuery.ts"

describe("dynamic updates", () => {
  it.live.skipIf(!BindServer.isInstalled)(
    "are taken by BIND, replace what was there, are seen and are taken back (needs `named` on PATH)",
    () =>
      Effect.gen(function* () {
        const server = yield* BindServer.start
        const { key, set } = server
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
        const other = yield* DnsBackend.makeRfc2136({ server, zone: "zone.test", key: stranger })
        assert.include((yield* Effect.flip(other.set({ name, type: "TXT", values: ["x"] }))).message, "code 9")
        assert.include(
          (yield* Effect.flip(set({ name: "_acme-challenge.elsewhere.test", type: "TXT", values: ["x"] }))).message,
          "code 10"
        )
      }).pipe(Effect.scoped, Effect.provide(SecureRandom.layerWebCrypto))
  )
})
