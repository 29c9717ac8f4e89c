import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { type As, hold, row, type Row } from "@catenet/testing/server/Contract"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const ada = account("ada")
const cyd = person("cyd")
const dan = person("dan")
const nameless = { session: "nameless", email: null } as const
const channel = idOf("hall")
const at = { channel }
const holder = keyOf("cyd's laptop")
const grant = grantBy("operator", channel, "cyd's laptop")
const material = materialOf(channel, "cyd's laptop")

const own = (path: string, body: unknown) =>
  Effect.map(ask(ada, `/me/channels${path}`, body), (answer) => {
    assert.strictEqual(answer.status, 200, path)
    return answer.body
  })

const minted = (word: string, label?: string) =>
  Effect.map(
    own(`/${channel}/claim-invites`, {
      ...materialOf(channel, word),
      ...(label === undefined ? {} : { label })
    }),
    ({ expires_at, invite, url }) => {
      assert.strictEqual(url, `https://localhost/portal/claim?invite=${String(invite)}`)
      assert.match(String(invite), /^[A-Za-z0-9_-]{43}$/u)
      return { invite: String(invite), expires_at }
    }
  )

const byAllowList: ReadonlyArray<Row> = [
  row("list", 200, { as: cyd, answer: { claims: [{ channel, state: "Pending" }] } }),
  row("list", 200, { as: dan, answer: { claims: [] } }),
  row("list", 200, { as: nameless, answer: { claims: [] }, because: "this is not an error" }),
  row("claim", "401 Unauthenticated", { at, body: material }),
  row("claim", "403 VerifiedEmailRequired", { as: nameless, at, body: "{" }),
  row("claim", "400 MalformedRequest", { as: cyd, at, body: { ...material, holder: "x" } }),
  row("claim", "400 AttestationRefused", { as: dan, at, body: materialOf(idOf("attic"), "dan") }),
  row("claim", "403 NotAllowListed", { as: dan, at, body: material }),
  row("claim", "403 NotAllowListed", {
    as: cyd,
    at: { channel: idOf("unknown") },
    body: materialOf(idOf("unknown"), "cyd's laptop")
  }),
  row("collectGrants", "404 NothingClaimed", { as: cyd, at }),
  row("collectGrants", "400 MalformedRequest", { as: cyd, at: { channel: "hall" } }),
  row("claim", 200, { as: cyd, at, body: material, answer: { claimed: true } }),
  row("claim", 200, { as: cyd, at, body: material, because: "it is the same account's" }),
  row("claim", "409 HolderClaimedElsewhere", { as: person("eve"), at, body: material }),
  row("claim", "403 ClaimProofRefused", { as: cyd, at, body: { ...material, account_proof: "00".repeat(64) } }),
  row("list", 200, { as: cyd, answer: { claims: [{ channel, state: "Claimed" }] } }),
  row("collectGrants", 200, {
    as: cyd,
    at,
    answer: { channel, identities: [{ holder, grant }] },
    because: "the owner had deposited it for that member"
  }),
  row("claim", 200, { as: cyd, at, body: materialOf(channel, "cyd's phone") }),
  row("collectGrants", 200, {
    as: cyd,
    at,
    answer: {
      channel,
      identities: [
        { holder, grant },
        { holder: keyOf("cyd's phone"), grant: null }
      ].toSorted((a, b) => (a.holder < b.holder ? -1 : 1))
    },
    because: "a claim is not a grant"
  }),
  row("collectGrants", "404 NothingClaimed", { as: person("eve"), at })
]

const byInvite = (invites: {
  readonly open: string
  readonly taken: string
  readonly late: string
  readonly expires_at: unknown
}): ReadonlyArray<Row> => {
  const { expires_at, late, open, taken } = invites
  const shown = { channel, holder: keyOf("dan's laptop"), label: "for dan", expires_at, state: "open" }
  const confirm = (as: As, invite: string) => ({ call: "confirmInvite", as, body: { invite } })
  return [
    row("showInvite", 200, { as: dan, query: `?invite=${open}`, answer: shown }),
    row("showInvite", "404 ClaimInviteUnknown", { as: dan, query: `?invite=${"A".repeat(43)}` }),
    row("showInvite", "404 ClaimInviteUnknown", { as: dan, query: "?invite=x" }),
    row("showInvite", "400 MalformedRequest", { as: dan }),
    row("showInvite", "410 ClaimInviteGone", { as: dan, query: `?invite=${late}` }),
    { ...confirm(dan, "x"), status: 404, code: "ClaimInviteUnknown" },
    { ...confirm(dan, "A".repeat(43)), status: 404, code: "ClaimInviteUnknown" },
    { ...confirm(dan, late), status: 410, code: "ClaimInviteGone" },
    { ...confirm(nameless, late), status: 410, code: "ClaimInviteGone", because: "that is looked at first" },
    { ...confirm(nameless, open), status: 403, code: "VerifiedEmailRequired" },
    { ...confirm(dan, taken), status: 409, code: "HolderClaimedElsewhere" },
    { ...confirm(dan, taken), status: 409, code: "HolderClaimedElsewhere", because: "a refused claim burns nothing" },
    { ...confirm(dan, open), status: 200, answer: { channel } },
    { ...confirm(dan, open), status: 410, code: "ClaimInviteGone" },
    row("showInvite", "410 ClaimInviteGone", { as: dan, query: `?invite=${open}` }),
    row("list", 200, { as: dan, answer: { claims: [{ channel, state: "Claimed" }] } })
  ]
}

const inDatabase = Layer.provideMerge(Layer.fresh(database), server())

layer(inDatabase, { excludeTestServices: true, timeout: "60 seconds" })("claims", (it) => {
  it.effect("answer as declared, in the order of the checks", () =>
    Effect.gen(function* () {
      yield* own("", { channel, operator_pubkey: keyOf("operator") })
      for (const name of ["cyd", "eve"]) {
        yield* own(`/${channel}/allowlist`, { email: `${name.toUpperCase()}@people.example` })
      }
      const { expires_at, invite: open } = yield* minted("dan's laptop", "for dan")
      const { invite: taken } = yield* minted("cyd's laptop")
      const { invite: late } = yield* minted("late")
      yield* SqlClient.SqlClient.use(
        (sql) => sql`update claim_invites set expires_at = expires_at - 900 where holder = ${keyOf("late")}`
      )
      yield* own(`/${channel}/members`, material)
      yield* own(`/${channel}/grants/${holder}`, { grant })
      yield* hold("claims", cyd, [...byAllowList, ...byInvite({ open, taken, late, expires_at })])
    })
  )
})
