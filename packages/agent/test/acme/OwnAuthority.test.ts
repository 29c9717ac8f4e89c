import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import type { Options } from "../../src/certificate/CertificateOptions.ts"
import * as CertificateQueueClient from "../../src/certificate/CertificateQueueClient.ts"
import * as Certificates from "../../src/certificate/Certificates.ts"
import * as CertificateStatusCheck from "../../src/doctor/CertificateStatusCheck.ts"
import * as OutgoingHttp from "../../src/onboard/OutgoingHttp.ts"

const binding = { kid: "kid-1", hmac: Buffer.from("a key of the user's") }
const bound = { kid: binding.kid, hmac: Redacted.make(binding.hmac.toString("base64url")) }

/** A control plane to which nothing listens. */
const away = Layer.merge(
  CertificateQueueClient.CertificateQueueClient.layer("http://127.0.0.1:1").pipe(Layer.provide(OutgoingHttp.layer)),
  NodeFileSystem.layer
)

/** The stage, at which the control plane assigns no authority and the user has one. */
const start = Effect.fnUntraced(function* (more: Parameters<typeof AcmeStage.start>[0] = {}) {
  const stage = yield* AcmeStage.start({ binding, ...more })
  const { certificates, layer, plane } = stage
  plane.mayIssue = false
  const look = (authority: Options["authority"]) => Certificates.look({ ...certificates, authority })
  const own = { directory: plane.directory, binding: bound }
  return { ...stage, own, look, reached: Effect.provide(look(own), layer), unreached: Effect.provide(look(own), away) }
})

const leafOf = ({ folder }: { readonly folder: string }) =>
  new X509Certificate(readFileSync(`${folder}/fullchain.pem`)).fingerprint256

describe("an authority of the user's own", () => {
  it.live("issues without a turn in the queue, with its own binding, and the control plane hears of it", () =>
    Effect.gen(function* () {
      const stage = yield* start()
      const { layer, look, own, plane, reached, validated } = stage
      const refused = yield* Effect.provide(look({ ...own, binding: undefined }), layer)
      assert.include(refused?._tag === "Failed" ? refused.sentence : "", "(externalAccountRequired)")
      assert.deepStrictEqual(plane.failures, [], "it is no authority of the control plane's")
      assert.strictEqual((yield* reached)?._tag, "Issued")
      assert.deepStrictEqual(validated, ["tls-alpn-01"])
      assert.strictEqual(plane.completes, 1)
      assert.strictEqual((yield* reached)?._tag, "Current")
      const roots = `${stage.stateDir}/root.pem`
      writeFileSync(roots, stage.issuer.root)
      const named = {
        folder: stage.folder,
        accountKey: undefined,
        authorityRoots: roots,
        authority: own,
        reload: undefined
      }
      const { finding } = yield* Effect.provide(CertificateStatusCheck.checkCustomCa(named), layer)
      assert.include(finding.detail, "is your own: visitors must trust its root")
    }).pipe(Effect.scoped)
  )

  it.live(
    "issues nothing for a name that the control plane has not recorded, which would stay without passthrough",
    () =>
      Effect.gen(function* () {
        const { plane, reached, validated } = yield* start()
        plane.status = "rot"
        assert.deepInclude(yield* reached, { _tag: "Waiting", status: "rot" })
        assert.deepStrictEqual(validated, [])
      }).pipe(Effect.scoped)
  )

  it.live("renews while the control plane is away, which hears of it later", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      let age = 80 * 86_400_000
      const stage = yield* start({ now: () => now - age })
      const { plane, reached, unreached } = stage
      assert.strictEqual((yield* reached)?._tag, "Issued")
      const first = leafOf(stage)
      age = 0
      const failure = yield* Effect.flip(unreached)
      assert.strictEqual(failure._tag, "Unreachable", "it is there, and not yet announced")
      assert.notInclude(failure.message, AcmeStage.token, "a path holds the routing token")
      assert.notStrictEqual(leafOf(stage), first)
      assert.strictEqual(plane.completes, 1)
      yield* reached
      assert.isAtLeast(plane.completes, 2)
    }).pipe(Effect.scoped)
  )
})
