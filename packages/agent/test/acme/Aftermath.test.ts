/** What follows an issuance: the origin reads the pair, and a certificate whose tunnel is gone is taken back. */
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as Certificates from "../../src/certificate/Certificates.ts"

type Stage = Effect.Success<ReturnType<typeof AcmeStage.start>>

const leafOf = ({ folder }: Stage) => new X509Certificate(readFileSync(`${folder}/fullchain.pem`))

describe("CT_ACME_RELOAD_CMD", () => {
  it.live("is run once for each certificate, and again until it succeeded; the name turns gruen only then", () =>
    Effect.gen(function* () {
      const stage = yield* AcmeStage.start()
      const { folder, layer, plane, stateDir, validated } = stage
      const reload = `echo run >> ${stateDir}/runs; cmp -s $CT_ACME_CERT_OUT_DIR/fullchain.pem ${folder}/fullchain.pem && test -e ${stateDir}/up`
      const look = Effect.provide(Certificates.look({ ...stage.certificates, reload }), layer)
      const runs = () => readFileSync(`${stateDir}/runs`, "utf8").split("\n").length - 1
      for (const run of [1, 2]) {
        const outcome = yield* look
        assert.include(outcome?._tag === "Failed" ? outcome.sentence : "", "CT_ACME_RELOAD_CMD failed: it ended with 1")
        assert.strictEqual(runs(), run)
        assert.strictEqual(plane.completes, 0)
      }
      writeFileSync(`${stateDir}/up`, "")
      assert.strictEqual((yield* look)?._tag, "Current")
      assert.strictEqual(plane.completes, 1)
      assert.strictEqual((yield* look)?._tag, "Current")
      assert.strictEqual(runs(), 3)
      assert.lengthOf(validated, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a deleted tunnel's certificate", () => {
  const revocations = (stage: { readonly asked: ReadonlyArray<string> }) =>
    stage.asked.filter((path) => path === "/revoke-cert").length

  const start = Effect.gen(function* () {
    const asked: Array<string> = []
    const stage = yield* AcmeStage.start({
      meddle: ({ path }, honest) => {
        asked.push(path)
        return honest()
      }
    })
    return { ...stage, asked }
  })

  it.live("is revoked once when the control plane knows the name no more, and counts as none afterwards", () =>
    Effect.gen(function* () {
      const stage = yield* start
      const { certificates, layer, plane } = stage
      const look = Effect.provide(Certificates.look(certificates), layer)
      assert.strictEqual((yield* look)?._tag, "Issued")
      const first = leafOf(stage)
      plane.refuses = { status: 404, code: "HostnameUnknown" }
      yield* Effect.provide(Certificates.leave(certificates), layer)
      assert.strictEqual(revocations(stage), 1)
      assert.strictEqual((yield* Effect.flip(look))._tag, "Refused")
      assert.strictEqual(revocations(stage), 1)
      plane.refuses = undefined
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.notStrictEqual(leafOf(stage).fingerprint256, first.fingerprint256)
    }).pipe(Effect.scoped)
  )

  it.live("stays where only the token is another one, and where the authority cannot be asked", () =>
    Effect.gen(function* () {
      const stage = yield* start
      const { certificates, folder, layer, plane } = stage
      yield* Effect.provide(Certificates.look(certificates), layer)
      plane.refuses = { status: 403, code: "NotHostnameOwner" }
      yield* Effect.provide(Certificates.leave(certificates), layer)
      assert.strictEqual(revocations(stage), 0)
      plane.refuses = { status: 404, code: "HostnameUnknown" }
      rmSync(`${folder}/acme-account-key.der`)
      yield* Effect.provide(Certificates.leave(certificates), layer)
      assert.strictEqual(revocations(stage), 0)
      assert.isTrue(existsSync(`${folder}/privkey.pem`))
    }).pipe(Effect.scoped)
  )
})
