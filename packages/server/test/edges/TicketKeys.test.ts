import * as Bytes from "@catenet/crypto/Bytes"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { TicketKeyRequest, TicketKeys, ticketKeySeconds } from "@catenet/domain/edges/TicketKeys"
import { EphemeralKey, PublicKey, Signature } from "@catenet/domain/values/Keys"
import { database } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { EdgeStore } from "../../src/edges/EdgeStore.ts"
import { TicketKeys as Service } from "../../src/edges/TicketKeys.ts"

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

/** An edge that is pinned to the key of this seed. */
const pinned = Effect.fnUntraced(function* (id: string, seed: number) {
  const { edges } = yield* TestServer.client
  const address = "a:1"
  const pubkey = PublicKey.make(Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(seed)))))
  const signature = Signature.make(Hex.encode(EdgeHeartbeat.sign(native, seedOf(seed), { id, peerAddress: address })))
  const facts = { id: EdgeId.make(id), peer_addr: PeerAddress.make(address) }
  yield* edges.heartbeat({ payload: new Heartbeat({ ...facts, pubkey, signature }) })
})

const questionOf = (id: string, seed: number) => {
  const asked = Result.getOrThrow(Exchange.ask(native, id, Uint8Array.from(randomBytes(32))))
  const signature = Signature.make(Hex.encode(Exchange.sign(native, seedOf(seed), asked)))
  const key = EphemeralKey.make(Hex.encode(asked.message))
  return { asked, payload: new TicketKeyRequest({ id: EdgeId.make(id), key, signature }) }
}

const read = Schema.decodeSync(Schema.fromJsonString(TicketKeys))

/** The keys that an edge hears, in plain. */
const keysFor = Effect.fnUntraced(function* (id: string, seed: number) {
  const { edges } = yield* TestServer.client
  const { asked, payload } = questionOf(id, seed)
  const { sealed } = yield* edges.ticketKeys({ payload })
  const plain = Result.getOrThrow(asked.open(Result.getOrThrow(Hex.decode(sealed))))
  const keys = read(Result.getOrThrow(Bytes.toText(plain)))
  return { sealed, keys: keys.map(({ from, key }) => ({ from, key: Redacted.value(key) })) }
})

const inDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) => Effect.provide(use, database)

const rows = inDatabase(
  SqlClient.SqlClient.use((sql) => sql<{ key: string }>`select key from ticket_keys order by from_at`)
)

/** What the service says and does at another time. */
const at = <A, E>(millis: number, use: (keys: Service["Service"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const moved: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.succeed(millis),
      currentTimeMillisUnsafe: () => millis
    })
    const made = yield* Service.make.pipe(
      Effect.provide([EdgeStore.layer, TestServer.sealing, SecureRandom.layerWebCrypto]),
      Effect.provideService(Clock.Clock, moved)
    )
    return yield* Effect.provideService(use(made), Clock.Clock, moved)
  })

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("ticket keys", (it) => {
  it.effect("are the same for all edges that ask at once, and stand sealed on the way and in the database", () =>
    Effect.gen(function* () {
      const edges = ["many-1", "many-2", "many-3", "many-4"]
      yield* Effect.forEach(edges, (id) => pinned(id, 7))
      const heard = yield* Effect.forEach(edges, (id) => keysFor(id, 7), { concurrency: "unbounded" })
      const [first] = heard
      for (const { keys } of heard) assert.deepStrictEqual(keys, first?.keys)
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
      const current = now - (now % ticketKeySeconds)
      assert.deepStrictEqual(
        first?.keys.map(({ from }) => from as number),
        [current, current + ticketKeySeconds]
      )
      const stored = yield* rows
      for (const { key } of first?.keys ?? []) {
        assert.match(key, /^[0-9a-f]{96}$/u)
        for (const { sealed } of heard) assert.notInclude(sealed, key)
        for (const row of stored) assert.notInclude(row.key, key)
      }
      assert.strictEqual(new Set(heard.map(({ sealed }) => sealed)).size, heard.length)
    })
  )

  it.effect("are refused to an edge without a pinned key and to one that does not prove it", () =>
    Effect.gen(function* () {
      const { edges } = yield* TestServer.client
      yield* pinned("proved", 7)
      const refused = (payload: TicketKeyRequest) =>
        Effect.map(Effect.flip(edges.ticketKeys({ payload })), ({ _tag }) => _tag)
      const { payload } = questionOf("proved", 7)
      const { key } = questionOf("proved", 7).payload
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [
            questionOf("unpinned", 7).payload,
            questionOf("proved", 8).payload,
            new TicketKeyRequest({ ...payload, key })
          ],
          refused
        ),
        ["TicketKeysRefused", "TicketKeysRefused", "TicketKeysRefused"]
      )
    })
  )

  it.effect(
    "change each twelve hours: edges hear the next one before, and the one before is deleted after a period",
    () =>
      Effect.gen(function* () {
        yield* pinned("late", 9)
        const { keys } = yield* keysFor("late", 9)
        const [, next] = keys
        assert.isDefined(next)
        const answered = (millis: number) =>
          at(millis, ({ answer, prune }) => {
            const { asked, payload } = questionOf("late", 9)
            return Effect.map(Effect.andThen(prune, answer(payload)), ({ sealed }) =>
              read(
                Result.getOrThrow(Bytes.toText(Result.getOrThrow(asked.open(Result.getOrThrow(Hex.decode(sealed))))))
              ).map(({ from, key }) => ({ from, key: Redacted.value(key) }))
            )
          }).pipe(inDatabase)
        const later = yield* answered((next?.from ?? 0) * 1_000)
        assert.deepStrictEqual(later.slice(0, 2), keys)
        assert.lengthOf(later, 3)
        const latest = yield* answered((next?.from ?? 0) * 1_000 + ticketKeySeconds * 1_000)
        assert.deepStrictEqual(latest.slice(0, 2), later.slice(1))
        assert.lengthOf(yield* rows, 3)
      })
  )
})
