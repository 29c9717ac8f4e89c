/** Where a certificate stands, as an agent says it: in words, in its `/status`, and in `doctor`. */
import { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { ofProblem } from "../../src/certificate/AcmeFailed.ts"
import { waiting } from "../../src/certificate/CertificateProgress.ts"
import * as CertificateStatusCheck from "../../src/doctor/CertificateStatusCheck.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

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
const standing = (facts: Readonly<Record<string, unknown>>) =>
  Schema.decodeUnknownSync(CertificateStanding)({ ...nothing, ...facts })

describe("a name that waits for its certificate", () => {
  const cases: ReadonlyArray<readonly [facts: Readonly<Record<string, unknown>>, words: string]> = [
    [{ place: 3 }, "is third in the queue"],
    [{ queues_again_at: 1_767_600_000 }, "let its turn pass, and queues again at 2026-01-05 08:00 UTC"],
    [{ held_back: "declined", place: 3 }, "gets none: its owner declined one in the portal"],
    [
      { held_back: "guarded" },
      "gets none while its visitors are restricted (login or HTTP only) and no agent enforces that"
    ],
    [{ step: "proving", step_since: 1 }, "is being proved by another agent of this tunnel"],
    [{}, "waits for its turn"]
  ]
  for (const [facts, words] of cases)
    it(`"${words}"`, () => {
      assert.strictEqual(waiting(standing(facts)), words)
    })
})

describe("a refusal of an authority", () => {
  const cases = [
    ["caa", 403, "caa", "CAA records of the domain forbid it; ask your DNS admin to allow this authority"],
    [
      "rateLimited",
      429,
      "rate-limited",
      "its limit is reached; wait, or let the control plane choose another authority"
    ],
    ["connection", 400, "connection", "it could not reach the host name; check that the tunnel is up"],
    ["dns", 400, "dns", "it could not look the host name up; check its DNS records"],
    ["rejectedIdentifier", 400, "rejected", "it issues no certificate for this name"],
    ["serverInternal", 500, "ca-unavailable", "the authority has a fault; try again later"]
  ] as const
  for (const [type, status, reason, remedy] of cases)
    it(`says what to do: ${type}`, () => {
      const problem = { type: `urn:ietf:params:acme:error:${type}`, detail: "No.\nReally" }
      const failed = ofProblem("ca.example", problem, { status })
      assert.strictEqual(failed.reason, reason)
      assert.include(failed.message, `ca.example refused (${type}): "No. Really"; ${remedy}`)
    })
})

describe("an agent that waits for its certificate", () => {
  it("says so in its /status and in doctor, with what an authority refused", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    const { plane } = stage
    plane.standing = { ...nothing, place: 3 }
    const env = {
      ...stage.env,
      CT_AGENT_ORIGIN: origin.address,
      CT_AGENT_ORIGIN_TLS: "terminate",
      CT_ACME_CERT_OUT_DIR: "certificate"
    }
    await using agent = runAgent(home, { ...env, CT_AGENT_METRICS_LISTEN: "127.0.0.1:0" })
    const base = /http:\/\/[^/]+/.exec(await agent.said("status, metrics and events at"))?.[0] ?? ""
    const certificate = async () =>
      ((await (await fetch(`${base}/status`)).json()) as { certificate?: { words: string; secs: number } }).certificate
    const words = "cannot be ordered yet: the name is edge-terminated (gelb); it is third in the queue"
    await eventually(async () => (await certificate())?.words === words, words)
    assert.isAtLeast((await certificate())?.secs ?? -1, 0)
    await agent.said(`the certificate of hello.example ${words}`)
    const detail = "CAA records of the domain forbid it; ask your DNS admin to allow this authority."
    plane.standing = { ...nothing, failure: { ca: "house", reason: "caa", detail, at: 1_767_600_000 } }
    await using doctor = runAgent(home, env, ["doctor", "--json"])
    assert.strictEqual(await doctor.exited, 0, doctor.lines.join("\n"))
    const found = (JSON.parse(doctor.stdout()) as { findings: ReadonlyArray<{ check: string; detail: string }> })
      .findings
    assert.strictEqual(
      found.find(({ check }) => check === "certificate's order")?.detail,
      `the name is edge-terminated (gelb); it waits for its turn. house refused at 2026-01-05 08:00 UTC: ${detail}`
    )
  })
})

describe("doctor beside an agent in an order", () => {
  it("says which step the order is at, and for how long", () => {
    const cases = [
      [
        { step: "waiting-for-dns" },
        "edge-terminated (gelb); its certificate is being ordered: waiting for DNS to show the proof of the name, for 40 s"
      ],
      [
        { status: "gruen", step: "installing" },
        "end-to-end (gruen); its certificate is there: CT_ACME_RELOAD_CMD is being run, for 40 s"
      ],
      [{ status: "gruen", step: null }, "end-to-end (gruen)"]
    ] as const
    for (const [facts, words] of cases)
      assert.strictEqual(CertificateStatusCheck.stands(standing({ step_since: 1_000, ...facts }), 1_040_900), words)
  })
})
