import { database, server } from "@catenet/testing/server/Accounts"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { idOf, invitationBy, keyOf, materialOf, redemptionOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as Contract from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const channel = idOf("hall")
const parties = { channel, invitee: "guest", holder: "laptop" }
const lasting = 4_000_000_000n
/** Another expiry makes another invitation. */
const invitation = (more = 0n) => invitationBy("operator", channel, "guest", lasting + more)
const good = (more = 0n, challenge?: string) => redemptionOf(invitation(more), parties, challenge)

const refused = (body: unknown, because: string): Contract.Row => ({
  call: "redeem",
  body,
  status: 403,
  code: "InvitationRefused",
  because
})

const rows = (challenges: { readonly [name in "used" | "late" | "spoiled" | "kept"]: string }) => {
  const broken = `${"ab".repeat(128)}04${invitation().slice(258)}`
  const unproven = { ...good(3n, challenges.spoiled), noise_attestation: "ab".repeat(64) }
  return [
    { call: "challenge", status: 200 },
    { call: "redeem", body: { ...good(), invitation: "ab" }, status: 400, code: "MalformedRequest" },
    {
      call: "redeem",
      body: { ...good(), invitation: broken },
      status: 400,
      code: "MalformedRequest",
      because: "there is no fourth direction"
    },
    { call: "redeem", body: { ...good(), challenge: "zz" }, status: 400, code: "MalformedRequest" },
    { call: "redeem", body: { invitation: invitation() }, status: 422, code: "WrongShape" },
    {
      call: "redeem",
      body: redemptionOf(invitationBy("operator", idOf("nowhere"), "guest"), { ...parties, channel: idOf("nowhere") }),
      status: 404,
      code: "ChannelUnknown"
    },
    refused(redemptionOf(invitationBy("stranger", channel, "guest"), parties), "the operator did not sign it"),
    refused(
      redemptionOf(invitationBy("stranger", channel, "guest", 1n), parties),
      "a forged invitation is forged before it is late"
    ),
    {
      call: "redeem",
      body: redemptionOf(invitationBy("operator", channel, "guest", 1n), parties),
      status: 410,
      code: "InvitationExpired"
    },
    refused({ ...good(), redeem_sig: "ab".repeat(64) }, "the invitee did not sign the redemption"),
    refused({ ...good(), ...materialOf(channel, "phone") }, "it was signed for another holder"),
    refused({ ...good(), noise_pubkey: keyOf("other") }, "the attestation is for another key"),
    refused(good(0n, idOf("never issued")), "the challenge was never issued"),
    refused({ ...good(), challenge: challenges.kept }, "a signature without a challenge is none over one"),
    refused(good(0n, challenges.kept), "the attempt before has spent the challenge"),
    refused(good(0n, challenges.late), "the challenge is two minutes old"),
    { call: "redeem", body: good(), status: 200, answer: undefined },
    { call: "redeem", body: good(), status: 409, code: "InvitationSpent" },
    { call: "redeem", body: good(1n, challenges.used), status: 200 },
    refused(good(2n, challenges.used), "a challenge is good for one attempt"),
    refused(unproven, "the attestation is the last thing that is looked at"),
    refused(good(3n, challenges.spoiled), "the challenge was spent by the refusal"),
    { call: "redeem", body: good(3n), status: 200, because: "but the invitation was not" }
  ] satisfies ReadonlyArray<Contract.Row>
}

const issued = Effect.map(ask("anonymous", "/channel/invite/challenge", {}), ({ body }) => String(body["challenge"]))

layer(Layer.provideMerge(Layer.fresh(database), server()), { excludeTestServices: true, timeout: "60 seconds" })(
  "invitations across accounts",
  (it) => {
    it.effect("answer as declared, in the order of the checks", () =>
      Effect.gen(function* () {
        yield* ask(account("ada"), "/me/channels", { channel, operator_pubkey: keyOf("operator") })
        const [used, late, spoiled, kept] = yield* Effect.all([issued, issued, issued, issued])
        yield* SqlClient.SqlClient.use(
          (sql) => sql`update invitation_challenges set issued_at = issued_at - 121 where challenge = ${late}`
        )
        yield* Contract.hold("invitations", "anonymous", rows({ used, late, spoiled, kept }))
      })
    )
  }
)
