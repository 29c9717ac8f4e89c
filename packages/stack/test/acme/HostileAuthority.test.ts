import * as Certificates from "@catenet/agent/certificate/Certificates"
import * as Certificate from "@catenet/crypto/x509/Certificate"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { existsSync } from "node:fs"
import type { Reply } from "../../src/acme/AcmeProblem.ts"
import * as AcmeStage from "./AcmeStage.ts"

/** Changes the JSON of answers whose path begins so. */
const changed =
  (begin: string, change: (body: Record<string, unknown>) => Record<string, unknown>): AcmeStage.Meddle =>
  async ({ path }, honest) => {
    const reply = await honest()
    return path.startsWith(begin) && reply.body !== undefined
      ? { ...reply, body: JSON.stringify(change(JSON.parse(reply.body))) }
      : reply
  }

const replaced =
  (begin: string, reply: (honest: Reply) => Reply): AcmeStage.Meddle =>
  async ({ path }, honest) => {
    const answer = await honest()
    return path.startsWith(begin) ? reply(answer) : answer
  }

const otherKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
const validity = { from: 0, until: 4e12 }
const chainOf = (host: string) => Certificate.pem(Certificate.mintLeaf("Any", otherKey, otherKey, [host], validity))

const cases: ReadonlyArray<readonly [what: string, meddle: AcmeStage.Meddle, said: RegExp]> = [
  [
    "sends the agent elsewhere by a redirect",
    replaced("/directory", () => ({ status: 302, headers: { location: "https://other.example/" } })),
    /no redirect is followed/
  ],
  [
    "answers without an end",
    replaced("/directory", (reply) => ({ ...reply, body: " ".repeat(200_000) })),
    /longer than 131072 bytes/
  ],
  [
    "answers no JSON",
    replaced("/new-order", (reply) => ({ ...reply, body: "{" })),
    /its order is not what RFC 8555 says/
  ],
  ["gives no nonce", replaced("/new-nonce", ({ status }) => ({ status })), /it gives no nonce/],
  [
    "names a loopback address",
    changed("/directory", (body) => ({ ...body, newOrder: "https://127.0.0.1:1/order" })),
    /names https:\/\/127\.0\.0\.1:1\/order, which is not https and at the directory's own address/
  ],
  [
    "names an address of machine metadata",
    changed("/new-order", (body) => ({ ...body, authorizations: ["http://169.254.169.254/latest"] })),
    /names http:\/\/169\.254\.169\.254\/latest/
  ],
  [
    "wants two names proved",
    changed("/new-order", (body) => ({ ...body, authorizations: ["https://localhost/1", "https://localhost/2"] })),
    /its order is not what RFC 8555 says/
  ],
  [
    "wants another name proved",
    changed("/authorization", (body) => ({ ...body, identifier: { type: "dns", value: "bank.example" } })),
    /asks for a proof of bank\.example/
  ],
  [
    "gives a token that is a path",
    changed("/authorization", (body) => ({
      ...body,
      challenges: [{ type: "tls-alpn-01", url: "https://localhost/", status: "pending", token: "../../etc/passwd" }]
    })),
    /its authorization is not what RFC 8555 says/
  ],
  [
    "gives a certificate for another key",
    replaced("/certificate", (reply) => ({ ...reply, body: chainOf(AcmeStage.hostname) })),
    /it gave a certificate for another key/
  ],
  [
    "gives no certificate",
    replaced("/certificate", (reply) => ({
      ...reply,
      body: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"
    })),
    /it gave no chain of certificates/
  ],
  [
    "gives a chain that does not belong together",
    replaced("/certificate", (reply) => ({
      ...reply,
      body: `${reply.body?.split("-----END")[0]}-----END CERTIFICATE-----\n${chainOf("x.test")}`
    })),
    /did not issue the one before it/
  ],
  [
    "refuses with a text of many lines",
    replaced("/new-order", () => ({
      status: 403,
      body: JSON.stringify({ type: "urn:ietf:params:acme:error:caa", detail: "no\n\u001b[2Jway" })
    })),
    /refused \(caa\): "no \[2Jway"; CAA records of the domain forbid it; ask your DNS admin/
  ]
]

describe("an authority that cannot be trusted", () => {
  for (const [what, meddle, said] of cases)
    it.live(`${what}: it is refused in one sentence, and no file is written`, () =>
      Effect.gen(function* () {
        const { certificates, folder, layer, plane } = yield* AcmeStage.start({ meddle })
        const outcome = yield* Effect.provide(Certificates.look(certificates), layer)
        assert.strictEqual(outcome?._tag, "Failed")
        if (outcome?._tag === "Failed") {
          assert.match(outcome.sentence, said)
          assert.notMatch(outcome.sentence, /\p{Cc}/u)
        }
        for (const name of ["privkey.pem", "fullchain.pem", "privkey.pem.new", "fullchain.pem.new"])
          assert.isFalse(existsSync(`${folder}/${name}`), name)
        assert.strictEqual(plane.completes, 0)
        assert.lengthOf(plane.failures, 1)
      }).pipe(Effect.scoped)
    )
})
