import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask, person } from "@catenet/testing/server/channels/Asking"
import { grantBy, idOf, keyOf, materialOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as Contract from "@catenet/testing/server/Contract"
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

const byAllowList: ReadonlyArray<Contract.Row> = [
  { call: "list", as: cyd, status: 200, answer: { claims: [{ channel, state: "Pending" }] } },
  { call: "list", as: dan, status: 200, answer: { claims: [] } },
  { call: "list", as: nameless, status: 200, answer: { claims: [] }, because: "this is not an error" },
  { call: "claim", at, body: material, status: 401, code: "Unauthenticated" },
  { call: "claim", as: nameless, at, body: "{", status: 403, code: "VerifiedEmailRequired" },
  { call: "claim", as: cyd, at, body: { ...material, holder: "x" }, status: 400, code: "MalformedRequest" },
  { call: "claim", as: dan, at, body: materialOf(idOf("attic"), "dan"), status: 400, code: "AttestationRefused" },
  { call: "claim", as: dan, at, body: material, status: 403, code: "NotAllowListed" },
  {
    call: "claim",
    as: cyd,
    at: { channel: idOf("unknown") },
    body: materialOf(idOf("unknown"), "cyd's laptop"),
    status: 403,
    code: "NotAllowListed"
  },
  { call: "collectGrants", as: cyd, at, status: 404, code: "NothingClaimed" },
  { call: "collectGrants", as: cyd, at: { channel: "hall" }, status: 400, code: "MalformedRequest" },
  { call: "claim", as: cyd, at, body: material, status: 200, answer: { claimed: true } },
  { call: "claim", as: cyd, at, body: material, status: 200, because: "it is the same account's" },
  { call: "claim", as: person("eve"), at, body: material, status: 409, code: "HolderClaimedElsewhere" },
  {
    call: "claim",
    as: cyd,
    at,
    body: { ...material, account_proof: "00".repeat(64) },
    status: 403,
    code: "ClaimProofRefused"
  },
  { call: "list", as: cyd, status: 200, answer: { claims: [{ channel, state: "Claimed" }] } },
  {
    call: "collectGrants",
    as: cyd,
    at,
    status: 200,
    answer: { channel, identities: [{ holder, grant }] },
    because: "the owner had deposited it for that member"
  },
  { call: "claim", as: cyd, at, body: materialOf(channel, "cyd's phone"), status: 200 },
  {
    call: "collectGrants",
    as: cyd,
    at,
    status: 200,
    answer: {
      channel,
      identities: [
        { holder, grant },
        { holder: keyOf("cyd's phone"), grant: null }
      ].toSorted((a, b) => (a.holder < b.holder ? -1 : 1))
    },
    because: "a claim is not a grant"
  },
  { call: "collectGrants", as: person("eve"), at, status: 404, code: "NothingClaimed" }
]

const byInvite = (invites: {
  readonly open: string
  readonly taken: string
  readonly late: string
  readonly expires_at: unknown
}): ReadonlyArray<Contract.Row> => {
  const { expires_at, late, open, taken } = invites
  const shown = { channel, holder: keyOf("dan's laptop"), label: "for dan", expires_at, state: "open" }
  const confirm = (as: Contract.As, invite: string) => ({ call: "confirmInvite", as, body: { invite } })
  return [
    { call: "showInvite", as: dan, query: `?invite=${open}`, status: 200, answer: shown },
    { call: "showInvite", as: dan, query: `?invite=${"A".repeat(43)}`, status: 404, code: "ClaimInviteUnknown" },
    { call: "showInvite", as: dan, query: "?invite=x", status: 404, code: "ClaimInviteUnknown" },
    { call: "showInvite", as: dan, status: 400, code: "MalformedRequest" },
    { call: "showInvite", as: dan, query: `?invite=${late}`, status: 410, code: "ClaimInviteGone" },
    { ...confirm(dan, "x"), status: 404, code: "ClaimInviteUnknown" },
    { ...confirm(dan, "A".repeat(43)), status: 404, code: "ClaimInviteUnknown" },
    { ...confirm(dan, late), status: 410, code: "ClaimInviteGone" },
    { ...confirm(nameless, late), status: 410, code: "ClaimInviteGone", because: "that is looked at first" },
    { ...confirm(nameless, open), status: 403, code: "VerifiedEmailRequired" },
    { ...confirm(dan, taken), status: 409, code: "HolderClaimedElsewhere" },
    { ...confirm(dan, taken), status: 409, code: "HolderClaimedElsewhere", because: "a refused claim burns nothing" },
    { ...confirm(dan, open), status: 200, answer: { channel } },
    { ...confirm(dan, open), status: 410, code: "ClaimInviteGone" },
    { call: "showInvite", as: dan, query: `?invite=${open}`, status: 410, code: "ClaimInviteGone" },
    { call: "list", as: dan, status: 200, answer: { claims: [{ channel, state: "Claimed" }] } }
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
      yield* Contract.hold("claims", cyd, [...byAllowList, ...byInvite({ open, taken, late, expires_at })])
    })
  )
})
