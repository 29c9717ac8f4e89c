import * as Certificate from "@catenet/crypto/x509/Certificate"
import * as CertificateRequest from "@catenet/crypto/x509/CertificateRequest"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { existsSync } from "node:fs"
import type { Reply } from "../../../stack/src/acme/AcmeProblem.ts"
import * as Certificates from "../../src/certificate/Certificates.ts"

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

/** Gives a certificate for the key that was asked for, and yet another one than was ordered. */
const issuing = (host: string, validity: Certificate.Validity): AcmeStage.Meddle => {
  let requested: Buffer | undefined
  return async ({ body, path }, honest) => {
    const reply = await honest()
    if (path.startsWith("/finalize")) {
      const { csr } = JSON.parse(Buffer.from(JSON.parse(body).payload, "base64url").toString())
      requested = Buffer.from(csr, "base64url")
    }
    if (!path.startsWith("/certificate") || requested === undefined) return reply
    const { key } = Option.getOrThrow(CertificateRequest.read(requested))
    return { ...reply, body: Certificate.pem(Certificate.mintLeaf("Any", otherKey, key, [host], validity)) }
  }
}

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
    "has the order at another address",
    replaced("/new-order", (reply) => ({ ...reply, headers: { ...reply.headers, location: "https://[::1]:1/order" } })),
    /names https:\/\/\[::1\]:1\/order, which is not https and at the directory's own address/
  ],
  [
    "accepts none of its own nonces",
    async ({ method }, honest) => {
      const { headers = {} } = await honest()
      const body = JSON.stringify({ type: "urn:ietf:params:acme:error:badNonce", detail: "again" })
      return method === "POST" ? { status: 400, headers, body } : honest()
    },
    /it accepts none of its own nonces/
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
    "gives a certificate for another name",
    issuing("bank.example", validity),
    /it gave a certificate for another name than app\.zone\.test/
  ],
  [
    "gives a certificate that has ended",
    issuing(AcmeStage.hostname, { from: 0, until: 1e12 }),
    /it gave a certificate for another time, from Jan 1 00:00:00 1970 GMT/
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
  ],
  [
    "refuses with half a character",
    replaced("/new-order", () => ({
      status: 403,
      body: JSON.stringify({ type: "urn:ietf:params:acme:error:caa", detail: "no \ud83d way" })
    })),
    /refused \(caa\): "no \ufffd way"; CAA records/
  ],
  [
    "refuses with a text that is cut in the middle of a character",
    replaced("/new-order", () => ({
      status: 403,
      body: JSON.stringify({ type: "urn:ietf:params:acme:error:caa", detail: `.${"\u{1f512}".repeat(300)}` })
    })),
    /refused \(caa\): "\.(?:\u{1f512}){149}\ufffd\.{3}"; CAA records/u
  ]
]

describe("an authority that cannot be trusted", () => {
  for (const [what, meddle, said] of cases)
    it.live(`${what}: it is refused in one sentence, and no file is written until it is honest`, () =>
      Effect.gen(function* () {
        let isHonest = false
        const { certificates, folder, layer, plane } = yield* AcmeStage.start({
          meddle: (request, honest) => (isHonest ? honest() : meddle(request, honest))
        })
        const look = Effect.provide(Certificates.look(certificates), layer)
        const outcome = yield* look
        assert.strictEqual(outcome?._tag, "Failed")
        if (outcome?._tag === "Failed") {
          assert.match(outcome.sentence, said)
          assert.notMatch(outcome.sentence, /\p{Cc}/u)
        }
        for (const name of ["privkey.pem", "fullchain.pem", "privkey.pem.new", "fullchain.pem.new"])
          assert.isFalse(existsSync(`${folder}/${name}`), name)
        assert.strictEqual(plane.completes, 0)
        assert.lengthOf(plane.failures, 1)
        isHonest = true
        assert.strictEqual((yield* look)?._tag, "Issued")
        assert.strictEqual(plane.completes, 1)
      }).pipe(Effect.scoped)
    )

  it.live("shows a certificate of a root that is not known: what to set is said, and nothing of it is believed", () =>
    Effect.gen(function* () {
      const { certificates, layer, plane } = yield* AcmeStage.start()
      const other = { ...certificates, roots: chainOf("other.test") }
      const outcome = yield* Effect.provide(Certificates.look(other), layer)
      assert.strictEqual(outcome?._tag, "Failed")
      if (outcome?._tag === "Failed")
        assert.match(
          outcome.sentence,
          /^localhost:\d+ cannot be trusted: [^;]+; let CT_ACME_CA_FILE name the root certificate that it is trusted by\.$/
        )
      assert.lengthOf(plane.failures, 1)
      assert.strictEqual(plane.completes, 0)
    }).pipe(Effect.scoped)
  )
})
