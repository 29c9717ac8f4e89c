import * as Bytes from "@catenet/crypto/Bytes"
import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { CertificatesRequest, HostCertificates } from "@catenet/domain/edges/HostCertificates"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { EphemeralKey, PublicKey, Signature } from "@catenet/domain/values/Keys"
import { eventually } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { RecordingEdge } from "@catenet/testing/server/RecordingEdge"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto"
import { CertificateOrders, OrderFailed } from "../../src/certificates/CertificateOrders.ts"

const portal = "portal.zone.test"
/** The portal, two accounts' shares of two, and what is left of eight. */
const budget = 8

const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const chainOf = (host: string) =>
  Certificate.pem(Certificate.mintLeaf("root", key, key, [host], { from: 0, until: 4_000_000_000_000 }))

/** Hosts in the order in which the authority was asked. */
const asked: Array<string> = []

/** An authority that proves what its name says. */
const authority = Layer.succeed(CertificateOrders, {
  order: ({ account, host, prove }) =>
    Effect.gen(function* () {
      asked.push(host)
      if (host.startsWith("unwilling"))
        return yield* new OrderFailed({ why: "The authority refuses.", retryAfter: 5_000 })
      if (host.startsWith("slow")) return yield* Effect.never
      if (host.startsWith("shown")) yield* prove("token.thumbprint")
      const pem = key.export({ type: "pkcs8", format: "pem" }).toString()
      return { chain: chainOf(host), key: pem, url: `${account.directory}/account` }
    }).pipe(Effect.scoped),
  dueAt: () => Effect.succeed(3_000_000_000)
})

const inDatabase = <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  SqlClient.SqlClient.use(use).pipe(Effect.provide(database))

const made = Effect.fnUntraced(function* (account: string, ...hosts: ReadonlyArray<string>) {
  const { provisioning } = yield* TestServer.client
  for (const name of hosts) {
    const hostname = Hostname.make(name)
    const { routing_token } = yield* provisioning.provisionTunnel({
      headers: {},
      payload: { subject: Subject.make(account), name: "n", hostname }
    })
    yield* provisioning.authorizeHost({ params: { routing_token, hostname } })
  }
})

interface Row {
  readonly host: string
  readonly has: boolean
  readonly failure: string | null
  readonly due_at: string
}

const rows = inDatabase(
  (sql) =>
    sql<Row>`select host, chain is not null as has, failure, due_at::text from platform_certificates order by host`
      .withoutTransform
)

const until = (what: string, is: (rows: ReadonlyArray<Row>) => boolean) =>
  Effect.gen(function* () {
    const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<typeof rows>>())
    let last: ReadonlyArray<Row> = []
    yield* Effect.promise(() =>
      eventually(
        async () => is((last = await run(rows))),
        () => `${what}: ${JSON.stringify(last)}`
      )
    )
    return last
  })

const seed = Redacted.make(new Uint8Array(32).fill(7))
const edge = "edge-1"

const pinned = Effect.gen(function* () {
  const { edges } = yield* TestServer.client
  const pubkey = PublicKey.make(Hex.encode(native.ed25519.publicKey(Redacted.value(seed))))
  const signature = Signature.make(Hex.encode(EdgeHeartbeat.sign(native, seed, { id: edge, peerAddress: "a:1" })))
  const facts = { id: EdgeId.make(edge), peer_addr: PeerAddress.make("a:1") }
  yield* edges.heartbeat({ payload: new Heartbeat({ ...facts, pubkey, signature }) })
})

const read = Schema.decodeSync(Schema.fromJsonString(HostCertificates))

const requestOf = (id: string, since: number, signedBy = seed) => {
  const question = Result.getOrThrow(Exchange.ask(native, id, Uint8Array.from(randomBytes(32))))
  const signature = Signature.make(Hex.encode(Exchange.sign(native, signedBy, question)))
  const ephemeral = EphemeralKey.make(Hex.encode(question.message))
  return { question, payload: new CertificatesRequest({ id: EdgeId.make(id), key: ephemeral, signature, since }) }
}

/** What an edge hears, in plain, and from where it asks next. */
const heard = Effect.fnUntraced(function* (since: number) {
  const { edges } = yield* TestServer.client
  const { payload, question } = requestOf(edge, since)
  const { revision, sealed } = yield* edges.certificates({ payload })
  if (sealed === undefined) return { revision, changed: [] }
  const plain = Result.getOrThrow(question.open(Result.getOrThrow(Hex.decode(sealed))))
  return { revision, changed: read(Result.getOrThrow(Bytes.toText(plain))) }
})

/** All that there is, page by page. */
const everything = Effect.gen(function* () {
  const all = new Map<string, (typeof HostCertificates.Type)[number]>()
  let since = 0
  for (;;) {
    const { changed, revision } = yield* heard(since)
    if (changed.length === 0) return { all, since }
    assert.isAtMost(changed.length, 3)
    for (const each of changed) all.set(each.host, each)
    since = revision
  }
})

const server = Layer.unwrap(
  Effect.map(RecordingEdge, ({ url }) =>
    TestServer.layer({
      CT_PORTAL_BASE_URL: `https://${portal}`,
      CT_CP_HOSTNAME_ZONE: "zone.test",
      CT_CP_EDGE_ADMIN_URL: url,
      CT_CP_PLATFORM_ACME: `fake https://fake.test/directory ${budget}`
    })
  )
).pipe(Layer.provide([authority, RecordingEdge.layer]))

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("certificates of the platform", (it) => {
  it.effect("are ordered for hosts that exist: an account gets its share of the zone, all together the budget", () =>
    Effect.gen(function* () {
      yield* until("the portal's", (found) => found.some(({ has, host }) => has && host === portal))
      yield* made("a", "a1.zone.test", "a2.zone.test", "a3.zone.test")
      yield* made("b", "b1.zone.test", "b2.zone.test")
      yield* made("c", "c1.zone.test", "c2.zone.test")
      const names = (found: ReadonlyArray<Row>) => found.filter(({ has }) => has).map(({ host }) => host)
      const before = yield* until("seven", (found) => names(found).length === 7 && found.length === 8)
      assert.notInclude(names(before), "a3.zone.test", "beyond the share of an account")
      yield* made("d", "d1.zone.test", "d2.zone.test", "own.other.test")
      const after = yield* until("nine", (found) => names(found).length === 9 && found.length === 11)
      assert.sameMembers(
        after.filter(({ has }) => !has).map(({ host }) => host),
        [
          "a3.zone.test",
          after.some(({ has, host }) => has && host === "d1.zone.test") ? "d2.zone.test" : "d1.zone.test"
        ]
      )
      assert.strictEqual(new Set(asked).size, asked.length, "none was asked for twice")
      yield* inDatabase(
        (sql) => sql`update platform_certificates set issued_at = 0, due_at = 0 where host <> ${portal}`
      )
      yield* until("the week is over", (found) => names(found).length === 11)
    })
  )

  it.effect("are told to the edge that proves its key, a few at a time, and everything again after a restore", () =>
    Effect.gen(function* () {
      yield* pinned
      const { all, since } = yield* everything
      const certificate = all.get("a1.zone.test")?.certificate
      assert.strictEqual(new X509Certificate(certificate?.chain ?? "").subjectAltName, "DNS:a1.zone.test")
      assert.include(Redacted.value(certificate?.key ?? Redacted.make("")), "PRIVATE KEY")
      assert.deepStrictEqual(yield* heard(since), { revision: since, changed: [] })
      assert.isNotEmpty((yield* heard(since + 1_000)).changed)
      const { edges } = yield* TestServer.client
      const refused = (payload: CertificatesRequest) =>
        Effect.map(Effect.flip(edges.certificates({ payload })), ({ _tag }) => _tag)
      const other = Redacted.make(new Uint8Array(32).fill(8))
      assert.deepStrictEqual(
        yield* Effect.forEach([requestOf("unpinned", 0).payload, requestOf(edge, 0, other).payload], refused),
        ["TicketKeysRefused", "TicketKeysRefused"]
      )
      const stored = yield* inDatabase(
        (sql) => sql<{ text: string }>`select p::text as text from platform_certificates p`
      )
      for (const { text } of stored) assert.notInclude(text, "PRIVATE KEY")
    })
  )

  it.effect("an authority validates when every edge has the proof, and the proof is taken away after it", () =>
    Effect.gen(function* () {
      let { since } = yield* everything
      yield* made("e", "shown.other.test")
      yield* until("ordered", () => asked.includes("shown.other.test"))
      const run = Effect.runPromiseWith(yield* Effect.context<Effect.Services<ReturnType<typeof heard>>>())
      let proof: unknown
      yield* Effect.promise(() =>
        eventually(async () => {
          const { changed, revision } = await run(heard(since))
          const found = changed.find(({ host }) => host === "shown.other.test")
          if (found?.challenge != null) {
            proof = found.challenge
            assert.isNull(found.certificate)
          } else since = revision
          return proof !== undefined
        }, "the proof is told")
      )
      const before = (yield* rows).find(({ host }) => host === "shown.other.test")
      assert.isFalse(before?.has, "it is not there while the edge has not fetched the proof")
      // Asking from the next revision on says that the edge has it.
      yield* Effect.promise(() =>
        eventually(async () => {
          since = (await run(heard(since))).revision
          return (await run(everything)).all.get("shown.other.test")?.certificate != null
        }, "it is issued")
      )
      assert.isNull((yield* everything).all.get("shown.other.test")?.challenge)
    })
  )

  it.effect("a refusal is kept with its reason, and the authority is left alone for as long as it says", () =>
    Effect.gen(function* () {
      yield* made("f", "unwilling.other.test")
      const found = yield* until("refused", (all) => all.some(({ failure }) => failure !== null))
      const row = found.find(({ host }) => host === "unwilling.other.test")
      assert.strictEqual(row?.failure, "The authority refuses.")
      assert.isAbove(Number(row?.due_at), Math.floor(performance.timeOrigin / 1_000) + 4_900)
      assert.lengthOf(
        asked.filter((host) => host === "unwilling.other.test"),
        1
      )
    })
  )

  it.effect("orders of one account that are slow leave places to those of others", () =>
    Effect.gen(function* () {
      yield* made("slow", "slow1.one.test", "slow2.two.test", "slow3.three.test", "slow4.four.test", "slow5.five.test")
      yield* until("two are ordered", () => asked.filter((host) => host.startsWith("slow")).length === 2)
      yield* made("quick", "quick.other.test")
      yield* until("another's is issued", (all) => all.some(({ has, host }) => has && host === "quick.other.test"))
      assert.lengthOf(
        asked.filter((host) => host.startsWith("slow")),
        2
      )
    })
  )

  it.effect("a host that is gone leaves no row", () =>
    Effect.gen(function* () {
      yield* inDatabase((sql) => sql`delete from hosts where hostname in ('a3.zone.test', 'slow5.five.test')`)
      assert.notInclude(
        (yield* rows).map(({ host }) => host),
        "slow5.five.test"
      )
    })
  )
})
