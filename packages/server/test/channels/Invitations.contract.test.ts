import { until } from "@catenet/testing/Eventually"
import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, otherReplica } from "@catenet/testing/server/channels/Asking"
import { idOf, invitationBy, keyOf, materialOf, redemptionOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** What is secret in a request of channels is not said again in the problem that answers it. */
const channelProblemSecrets = idOf("hall")
const holderProblemSecrets = keyOf("laptop")
const grant = `5ec7e7${"ab".repeat(136)}`
const invitationProblemSecrets = invitationBy("operator", channelProblemSecrets, "guest", 4_000_000_000n)
const goodProblemSecrets = redemptionOf(invitationProblemSecrets, {
  channel: channelProblemSecrets,
  invitee: "guest",
  holder: "laptop"
})
const token = `5ec7e7${"cd".repeat(29)}`

/** Each secret whole, cut, with a letter that is none, and as another type. */
const spoiledProblemSecrets = (secret: string): ReadonlyArray<unknown> => [
  secret,
  secret.slice(0, -1),
  `${secret}zz`,
  [secret],
  { secret }
]

const redemptions = ["invitation", "redeem_sig", "noise_attestation", "challenge"] as const
const requests: ReadonlyArray<readonly [path: string, secret: string, body: (value: unknown) => unknown]> = [
  [`/me/channels/${channelProblemSecrets}/grants/${holderProblemSecrets}`, grant, (grant_hex) => ({ grant_hex })],
  [`/me/channels/${idOf("other")}/grants/${holderProblemSecrets}`, grant, (grant_hex) => ({ grant_hex })],
  ["/bootstrap/redeem", token, (value) => ({ token: value, pubkey: keyOf("agent"), proof: "ab".repeat(64) })],
  ["/bootstrap/redeem", token, (proof) => ({ token: "ab".repeat(32), pubkey: keyOf("agent"), proof })],
  ...redemptions.map(
    (name) =>
      [
        "/channel/invite/redeem",
        `5ec7e7${(goodProblemSecrets[name] ?? "ab".repeat(32)).slice(6)}`,
        (value: unknown) => ({ ...goodProblemSecrets, [name]: value })
      ] as const
  )
]

const channelInvitationsPruning = idOf("hall")
const day = 86_400

/** One of each that has expired, and one that is still good. */
const left = SqlClient.SqlClient.use((sql) => {
  const now = sql`extract(epoch from now())::bigint`
  const { holder, noise_attestation, noise_pubkey } = materialOf(channelInvitationsPruning, "laptop")
  const invite = (word: string, age: number) => sql`insert into claim_invites
    values (${idOf(word)}, ${channelInvitationsPruning}, ${holder}, ${noise_pubkey}, ${noise_attestation}, ${word}, ${now} - ${age}, null)`
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

const channel = idOf("hall")
const parties = { channel, invitee: "guest", holder: "laptop" }
const lasting = 4_000_000_000n
/** Another expiry makes another invitation. */
const invitation = (more = 0n) => invitationBy("operator", channel, "guest", lasting + more)
const good = (more = 0n, challenge?: string) => redemptionOf(invitation(more), parties, challenge)

const refused = (body: unknown, because: string): Row => row("redeem", "403 InvitationRefused", { body, because })

const rows = (challenges: { readonly [name in "used" | "late" | "spoiled" | "kept"]: string }) => {
  const broken = `${"ab".repeat(128)}04${invitation().slice(258)}`
  const unproven = { ...good(3n, challenges.spoiled), noise_attestation: "ab".repeat(64) }
  return [
    row("challenge", 200),
    row("redeem", "400 MalformedRequest", { body: { ...good(), invitation: "ab" } }),
    row("redeem", "400 MalformedRequest", {
      body: { ...good(), invitation: broken },
      because: "there is no fourth direction"
    }),
    row("redeem", "400 MalformedRequest", { body: { ...good(), challenge: "zz" } }),
    row("redeem", "422 WrongShape", { body: { invitation: invitation() } }),
    row("redeem", "404 ChannelUnknown", {
      body: redemptionOf(invitationBy("operator", idOf("nowhere"), "guest"), { ...parties, channel: idOf("nowhere") })
    }),
    refused(redemptionOf(invitationBy("stranger", channel, "guest"), parties), "the operator did not sign it"),
    refused(
      redemptionOf(invitationBy("stranger", channel, "guest", 1n), parties),
      "a forged invitation is forged before it is late"
    ),
    row("redeem", "410 InvitationExpired", {
      body: redemptionOf(invitationBy("operator", channel, "guest", 1n), parties)
    }),
    refused({ ...good(), redeem_sig: "ab".repeat(64) }, "the invitee did not sign the redemption"),
    refused({ ...good(), ...materialOf(channel, "phone") }, "it was signed for another holder"),
    refused({ ...good(), noise_pubkey: keyOf("other") }, "the attestation is for another key"),
    refused(good(0n, idOf("never issued")), "the challenge was never issued"),
    refused({ ...good(), challenge: challenges.kept }, "a signature without a challenge is none over one"),
    refused(good(0n, challenges.kept), "the attempt before has spent the challenge"),
    refused(good(0n, challenges.late), "the challenge is two minutes old"),
    row("redeem", 200, { body: good(), answer: undefined }),
    row("redeem", "409 InvitationSpent", { body: good() }),
    row("redeem", 200, { body: good(1n, challenges.used) }),
    refused(good(2n, challenges.used), "a challenge is good for one attempt"),
    refused(unproven, "the attestation is the last thing that is looked at"),
    refused(good(3n, challenges.spoiled), "the challenge was spent by the refusal"),
    row("redeem", 200, { body: good(3n), because: "but the invitation was not" })
  ] satisfies ReadonlyArray<Row>
}

const issued = Effect.map(ask("anonymous", "/channel/invite/challenge", {}), ({ body }) => String(body["challenge"]))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  (it) => {
    describe("problems of channels", () => {
      it.effect("repeat no grant, token, invitation or signature", () =>
        Effect.gen(function* () {
          yield* ask(account("ada"), "/me/channels", {
            channel: channelProblemSecrets,
            operator_pubkey: keyOf("operator")
          })
          for (const [path, secret, body] of requests)
            for (const value of spoiledProblemSecrets(secret)) {
              const { body: problem, status } = yield* ask(account("ada"), path, body(value))
              assert.isAtLeast(status, 400, path)
              assert.notInclude(JSON.stringify(problem).toLowerCase(), secret.slice(0, 12), path)
            }
        })
      )
    })

    describe("cleanup of invitations", () => {
      it.effect("any replica removes expired challenges, redemptions and invites, and nothing else", () =>
        Effect.gen(function* () {
          yield* ask(account("ada"), "/me/channels", {
            channel: channelInvitationsPruning,
            operator_pubkey: keyOf("operator")
          })
          yield* left
          yield* otherReplica
          const kept = yield* until(remaining, ({ length }) => length <= 3)
          assert.deepStrictEqual(kept.toSorted(), [idOf("good"), "b".repeat(128), "just over"].toSorted())
        })
      )
    })

    describe("invitations across accounts", () => {
      it.effect("answer as declared, in the order of the checks", () =>
        Effect.gen(function* () {
          yield* ask(account("ada"), "/me/channels", { channel, operator_pubkey: keyOf("operator") })
          const [used, late, spoiled, kept] = yield* Effect.all([issued, issued, issued, issued])
          yield* SqlClient.SqlClient.use(
            (sql) => sql`update invitation_challenges set issued_at = issued_at - 121 where challenge = ${late}`
          )
          yield* hold("invitations", "anonymous", rows({ used, late, spoiled, kept }))
        })
      )
    })
  }
)
