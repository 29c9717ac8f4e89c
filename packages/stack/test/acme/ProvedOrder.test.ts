import { CertificateQueueClient } from "@catenet/agent/internal/certificate/CertificateQueueClient"
import * as Certificates from "@catenet/agent/internal/certificate/Certificates"
import * as OutgoingHttp from "@catenet/agent/internal/onboard/OutgoingHttp"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { IssuanceFailure } from "@catenet/domain/certificates/CertificateStanding"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Redacted } from "effect"

const seedOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const keyOf = (byte: number) => Hex.encode(native.ed25519.publicKey(Redacted.value(seedOf(byte))))

/** An agent with the key of this byte, or none, at a control plane that wants that of the first byte proved. */
const start = Effect.fnUntraced(function* (byte?: number) {
  const stage = yield* AcmeStage.start()
  stage.plane.key = keyOf(1)
  stage.plane.dns = () => Promise.resolve(undefined)
  const seed = Effect.succeed(byte === undefined ? undefined : seedOf(byte))
  const layer = Layer.merge(
    CertificateQueueClient.layer(stage.url, seed).pipe(Layer.provide(OutgoingHttp.layer)),
    NodeFileSystem.layer
  )
  const ask = Effect.provide(
    CertificateQueueClient.use(({ ask }) => ask(stage.certificates)),
    layer
  )
  return { ...stage, ask, look: Effect.provide(Certificates.look(stage.certificates), layer), layer }
})

describe("the calls of an agent whose key the control plane demands", () => {
  it.live("carry its proof from the first to the last of an order, with a body and without", () =>
    Effect.gen(function* () {
      const { layer, look, certificates, plane } = yield* start(1)
      assert.strictEqual((yield* look)?._tag, "Issued")
      yield* Effect.provide(
        CertificateQueueClient.use((admission) =>
          Effect.gen(function* () {
            assert.strictEqual(yield* admission.publish(certificates, "v"), "published")
            yield* admission.clear(certificates)
            yield* admission.progress(certificates, { step: "waiting", agent: "ab".repeat(8) })
            yield* admission.fail(certificates, IssuanceFailure.make({ ca: "stage", reason: "dns" }))
            assert.isDefined(yield* admission.standing(certificates))
          })
        ),
        layer
      )
      assert.strictEqual(plane.completes, 1)
      assert.deepStrictEqual(new Set(plane.refused), new Set([undefined]))
      assert.lengthOf(plane.refused, 7)
    }).pipe(Effect.scoped)
  )

  it.live("are repeated once by the server's clock where that of the machine is wrong, and not again", () =>
    Effect.gen(function* () {
      const { ask, look, plane } = yield* start(1)
      plane.date = (yield* Clock.currentTimeMillis) + 600_000
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.deepStrictEqual(
        plane.refused.filter((reason) => reason !== undefined),
        ["stale"]
      )
      assert.strictEqual(plane.completes, 1)
      plane.refused.length = 0
      plane.key = keyOf(3)
      yield* Effect.flip(ask)
      assert.deepStrictEqual(plane.refused, ["not-enrolled"])
    }).pipe(Effect.scoped)
  )

  it.live("are refused with the server's sentence where the agent is not enrolled, and nothing is ordered", () =>
    Effect.gen(function* () {
      for (const byte of [undefined, 2]) {
        const { look, plane, validated } = yield* start(byte)
        const refused = yield* Effect.flip(look)
        assert.deepInclude(refused, { _tag: "Refused", message: "AgentProofRequired it is." })
        assert.strictEqual(plane.completes, 0)
        assert.lengthOf(validated, 0)
      }
    }).pipe(Effect.scoped)
  )
})
