import type { Refusal } from "@catenet/testing/stack/acme/AcmePlane"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as Certificates from "../../src/certificate/Certificates.ts"

/** What the broker answers to publications, one after the other, and then that the value is there. */
const start = Effect.fnUntraced(function* (...answers: ReadonlyArray<Refusal>) {
  const left = [...answers]
  const orders: Array<string> = []
  const published: Array<string> = []
  let shown: string | undefined
  const stage = yield* AcmeStage.start({
    meddle: async ({ path }, honest) => {
      if (path === "/new-order") orders.push(path)
      return honest()
    },
    validate: async (_, __, proof) => {
      if (shown !== createHash("sha256").update(proof).digest("base64url")) throw new Error("another value is shown")
    }
  })
  stage.plane.dns = async (value) => {
    if (value !== undefined) published.push(value)
    const refusal = value === undefined ? undefined : left.shift()
    shown = refusal === undefined ? value : undefined
    return refusal
  }
  const { certificates, layer } = stage
  const look = Effect.provide(Certificates.look({ ...certificates, methods: ["dns-01"] }), layer)
  return { ...stage, look, orders, published }
})

describe("a proof that the control plane publishes", () => {
  for (const [what, refusal] of [
    ["that the name servers do not all show yet", { status: 504, code: "DnsNotConverged" }],
    ["that has to wait, for as long as it says", { status: 503, code: "DnsBusy", facts: { retry_after: 1 } }],
    ["whose control plane has a fault", { status: 500, code: "Unexpected" }]
  ] as const)
    it.live(`${what}: the same value is asked for again, and nothing new is ordered`, () =>
      Effect.gen(function* () {
        const { look, orders, plane, published } = yield* start(refusal, refusal)
        assert.strictEqual((yield* look)?._tag, "Issued")
        assert.lengthOf(orders, 1)
        assert.lengthOf(published, 3)
        assert.lengthOf(new Set(published), 1)
        assert.deepStrictEqual(plane.failures, [])
      }).pipe(Effect.scoped)
    )

  for (const [code, status, said] of [
    ["NotAdmitted", 425, "NotAdmitted it is."],
    ["DnsProviderFailed", 502, "DnsProviderFailed it is."],
    ["NotHostnameOwner", 403, "NotHostnameOwner it is. Check CT_AGENT_TOKEN"],
    ["HostnameUnknown", 404, "HostnameUnknown it is. Check CT_AGENT_TOKEN"],
    ["RouteNotFound", 404, "publishes no proof of app.zone.test in DNS"],
    ["ChallengeNotBrokered", 403, "publishes no proof of app.zone.test in DNS"]
  ] as const)
    it.live(`that is refused by ${code} is said in a sentence, and its order is continued by the next look`, () =>
      Effect.gen(function* () {
        const { look, orders, plane, published } = yield* start({ status, code })
        const refused = yield* look
        assert.include(refused?._tag === "Failed" ? refused.sentence : "", said)
        assert.lengthOf(plane.failures, 1)
        assert.strictEqual((yield* look)?._tag, "Issued")
        assert.lengthOf(orders, 1)
        assert.lengthOf(new Set(published), 1)
      }).pipe(Effect.scoped)
    )
})
