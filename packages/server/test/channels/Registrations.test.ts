/** Who may register a channel: a table over what the store knows of it, without a database. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorProof from "@catenet/crypto/OperatorProof"
import * as Access from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { ReadsBody, ReadsParameters } from "@catenet/domain/api/RequestReading"
import { ChannelRegistration } from "@catenet/domain/channels/Channel"
import { Subject } from "@catenet/domain/values/Ids"
import { OperatorKey } from "@catenet/domain/values/Keys"
import { idOf, keyOf, linkOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { HttpApiMiddleware, HttpApiTest } from "effect/http-api"
import { ChannelHandlers } from "../../src/api/ChannelHandlers.ts"
import { AllowLists } from "../../src/channels/AllowLists.ts"
import { Channels } from "../../src/channels/Channels.ts"
import { ChannelStore } from "../../src/channels/ChannelStore.ts"
import { ClaimInvites } from "../../src/channels/ClaimInvites.ts"
import { Members } from "../../src/channels/Members.ts"
import { MembershipRevocations } from "../../src/channels/MembershipRevocations.ts"
import { Rooms } from "../../src/channels/Rooms.ts"
import { Bootstraps } from "../../src/enrollment/Bootstraps.ts"
import { Audits } from "../../src/identity/Audits.ts"
import { Settings } from "../../src/settings/Settings.ts"

const [chosen, link] = [idOf("chosen"), linkOf("operator", "a", "b")]
const proofFor = (subject: string) => ({
  operator_proof: Hex.encode(OperatorProof.sign(native, seedOf("operator"), { subject }))
})
const proof = proofFor("ada")
const derived = { ...proof, derived_from: { holders: [keyOf("a"), keyOf("b")] } }

interface Case {
  readonly is: string
  readonly channel?: string
  /** Who has the channel, its operator, and what was proved. */
  readonly known?: readonly [owner: "ada" | "eve", operator: string, proof: "none" | "key" | "derived"]
  readonly held?: number
  /** The topology of the link is bound to the operator that is asked for, or to another one. */
  readonly bound?: "operator" | "another"
  readonly more?: object
  /** The refusal, or what is written. */
  readonly then: string
}

const cases: ReadonlyArray<Case> = [
  { is: "new", then: "insert" },
  { is: "new, with the last room", held: 1, then: "insert" },
  { is: "new, without room", held: 2, then: "ChannelLimitReached" },
  { is: "new, a link of another operator", bound: "another", then: "LinkOperatorDiffers" },
  { is: "repeated", known: ["ada", "operator", "none"], then: "" },
  { is: "repeated, without room", known: ["ada", "operator", "none"], held: 2, then: "" },
  { is: "repeated, with a proof", known: ["ada", "operator", "none"], more: proof, then: "setOperator" },
  { is: "repeated, proved before", known: ["ada", "operator", "key"], more: proof, then: "" },
  { is: "with another key", known: ["ada", "other", "none"], then: "OperatorMismatch" },
  {
    is: "with another key, confirmed",
    known: ["ada", "other", "none"],
    more: { confirm_rekey: true },
    then: "setOperator cut"
  },
  {
    is: "with another key, confirmed, a link of another operator",
    known: ["ada", "other", "none"],
    bound: "another",
    more: { confirm_rekey: true },
    then: "LinkOperatorDiffers"
  },
  { is: "of another account", known: ["eve", "operator", "none"], then: "NotChannelOwner" },
  {
    is: "of another account, confirmed",
    known: ["eve", "operator", "none"],
    more: { confirm_rekey: true },
    then: "NotChannelOwner"
  },
  { is: "of another account, by its key", known: ["eve", "operator", "none"], more: proof, then: "drop cut insert" },
  {
    is: "of another account, without room",
    known: ["eve", "operator", "none"],
    more: proof,
    held: 2,
    then: "ChannelLimitReached"
  },
  {
    is: "of another account that proved the key",
    known: ["eve", "operator", "key"],
    more: proof,
    then: "NotChannelOwner"
  },
  { is: "of another account with another key", known: ["eve", "other", "none"], more: proof, then: "NotChannelOwner" },
  {
    is: "of another account, derived",
    channel: link,
    known: ["eve", "other", "key"],
    more: derived,
    then: "drop cut insert"
  },
  {
    is: "of another account that derived it",
    channel: link,
    known: ["eve", "operator", "derived"],
    more: derived,
    then: "NotChannelOwner"
  },
  {
    is: "of another account, an own bound link",
    known: ["eve", "other", "key"],
    bound: "operator",
    then: "drop cut insert"
  },
  {
    is: "with a derivation and no proof",
    channel: link,
    more: { derived_from: derived.derived_from },
    then: "OperatorProofRefused"
  },
  { is: "with a derivation of another channel", more: derived, then: "OperatorProofRefused" },
  { is: "with a proof for another account", more: proofFor("eve"), then: "OperatorProofRefused" },
  {
    is: "with a proof by another key",
    more: { ...proof, operator_pubkey: keyOf("other") },
    then: "OperatorProofRefused"
  }
]

const settings = Settings.layer.pipe(
  Layer.provide(
    ConfigProvider.layer(
      ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: "postgres://none", CT_CP_CHANNELS_PER_ACCOUNT: "2" })
    )
  )
)

const ada = Effect.provideService(Access.Caller, { subject: Subject.make("ada"), email: null, means: "bearer" })
const open = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect
const middleware = Layer.mergeAll(
  Layer.succeed(Access.BearerAccess, { bearer: ada }),
  Layer.succeed(Access.SessionAccess, { session: ada }),
  Layer.succeed(Access.AccountAccess, { session: ada, bearer: ada }),
  Layer.succeed(Access.AdminAccess, { admin: Effect.provideService(Access.Administrator, { means: "admin-token" }) }),
  Layer.succeed(Access.SameOrigin, open),
  Layer.succeed(Access.RateLimit, open),
  Layer.succeed(Access.OneAtATime, open),
  Layer.succeed(Access.BrokersDns, open),
  ReadsBody.layer,
  ReadsParameters.layer,
  HttpApiMiddleware.layerClient(Access.BearerAccess, ({ next, request }) => next(request)),
  HttpApiMiddleware.layerClient(Access.SessionAccess, ({ next, request }) => next(request)),
  HttpApiMiddleware.layerClient(Access.AccountAccess, ({ next, request }) => next(request)),
  HttpApiMiddleware.layerClient(Access.AdminAccess, ({ next, request }) => next(request))
)
/** Services of the group that registering takes no part of. */
const others = Layer.mergeAll(
  Layer.mock(AllowLists, {}),
  Layer.mock(Bootstraps, {}),
  Layer.mock(ClaimInvites, {}),
  Layer.mock(Members, {}),
  Layer.mock(Rooms, {})
)

/** The case that is being asked, and what it has written. */
let now: Case = cases[0] ?? assert.fail()
let written: Array<string> = []
const write = (what: string) => () => Effect.sync(() => void written.push(what))
const rows = (are: () => boolean) => () => Effect.sync(() => (are() ? [{ isBound: true }] : []))
const store = Layer.mock(ChannelStore, {
  transaction: open as never,
  lock: () => Effect.void as never,
  register: () => Effect.succeed({ isNew: false, refusal: null }),
  toRegister: () =>
    Effect.sync(() => {
      const { held = 0, known: [owner, operator, proof] = [] } = now
      return {
        owner: owner === undefined ? null : Subject.make(owner),
        operatorPubkey: operator === undefined ? null : OperatorKey.make(keyOf(operator)),
        proof: proof ?? null,
        held,
        most: null
      }
    }),
  boundByOwner: rows(() => now.bound === "operator"),
  boundToOther: rows(() => now.bound === "another"),
  insert: write("insert") as never,
  drop: write("drop") as never,
  setOperator: write("setOperator") as never
})
const audits = Layer.mock(Audits, { append: () => Effect.void, complain: () => Effect.void })
const handlers = ChannelHandlers.pipe(
  Layer.provide(Channels.layerNoDeps),
  Layer.provide([store, settings, audits, Layer.mock(MembershipRevocations, { cut: write("cut") as never }), others]),
  Layer.provideMerge(Layer.mergeAll(middleware, HttpServer.layerServices))
)

layer(handlers)("a registration", (it) => {
  it.effect("is refused, repeated or written by what is known of the channel", () =>
    Effect.gen(function* () {
      const { channels } = yield* HttpApiTest.groups(ControlPlaneApi, ["channels"])
      for (const each of cases) {
        now = each
        written = []
        const payload = { channel: each.channel ?? chosen, operator_pubkey: keyOf("operator"), ...each.more }
        const refusal = yield* channels
          .register({ payload: ChannelRegistration.make(payload as never) })
          .pipe(Effect.match({ onFailure: (error) => error._tag, onSuccess: () => undefined }))
        assert.strictEqual(refusal ?? written.join(" "), each.then, each.is)
        if (refusal !== undefined) assert.deepStrictEqual(written, [], each.is)
      }
    })
  )
})
