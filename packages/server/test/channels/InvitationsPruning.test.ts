import { until } from "@catenet/testing/Eventually"
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica } from "@catenet/testing/server/channels/Asking"
import { idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const channel = idOf("hall")
const day = 86_400

/** One of each that has expired, and one that is still good. */
const left = SqlClient.SqlClient.use((sql) => {
  const now = sql`extract(epoch from now())::bigint`
  const { holder, noise_attestation, noise_pubkey } = materialOf(channel, "laptop")
  const invite = (word: string, age: number) => sql`insert into claim_invites
    values (${idOf(word)}, ${channel}, ${holder}, ${noise_pubkey}, ${noise_attestation}, ${word}, ${now} - ${age}, null)`
  return Effect.all([
    sql`insert into invitation_challenges values (${idOf("stale")}, ${now} - 125), (${idOf("good")}, ${now})`,
    sql`insert into invitation_redemptions values (${"a".repeat(128)}, ${now} - 5), (${"b".repeat(128)}, ${now} + 900)`,
    invite("long over", 8 * day),
    invite("just over", day)
  ])
})

const remaining = SqlClient.SqlClient.use(
  (sql) => sql<{ readonly what: string }>`
    select challenge as what from invitation_challenges
    union all select signature from invitation_redemptions
    union all select label from claim_invites order by 1`
).pipe(Effect.map((rows) => rows.map(({ what }) => what)))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "cleanup of invitations",
  (it) => {
    it.effect("any replica removes expired challenges, redemptions and invites, and nothing else", () =>
      Effect.gen(function* () {
        yield* ask(account("ada"), "/me/channels", { channel, operator_pubkey: keyOf("operator") })
        yield* left
        yield* otherReplica
        const kept = yield* until(remaining, ({ length }) => length <= 3)
        assert.deepStrictEqual(kept.toSorted(), [idOf("good"), "b".repeat(128), "just over"].toSorted())
      })
    )
  }
)
