import { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { progressText } from "../../src/up/DemoCertificate.ts"

const nothing = {
  status: "gelb",
  place: null,
  held_back: null,
  claim_deadline: null,
  queues_again_at: null,
  step: null,
  step_since: null,
  failure: null
}

describe("the way of the demo tunnel from gelb to gruen", () => {
  const cases: ReadonlyArray<readonly [facts: Readonly<Record<string, unknown>>, said: string]> = [
    [
      { place: 1 },
      "hello.localhost is edge-terminated (gelb): the edge terminates TLS. The name is first in the queue."
    ],
    [
      { claim_deadline: 1_767_600_000 },
      "hello.localhost is edge-terminated (gelb): the edge terminates TLS. Its agent may order a certificate now."
    ],
    [
      { claim_deadline: 1_767_600_000, step: "proving", step_since: 1 },
      "hello.localhost is edge-terminated (gelb): the edge terminates TLS. A certificate of its own is being ordered: the name is proved to the authority."
    ],
    [
      { status: "gruen" },
      "hello.localhost is end-to-end (gruen): only its agent has the key of its certificate, and the edge passes TLS through."
    ]
  ]
  for (const [facts, said] of cases)
    it(`is said in the terminal: ${said.slice(0, 60)}`, () => {
      assert.strictEqual(progressText(Schema.decodeUnknownSync(CertificateStanding)({ ...nothing, ...facts })), said)
    })
})
