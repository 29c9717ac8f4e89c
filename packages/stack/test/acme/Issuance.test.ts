import * as Certificates from "@catenet/agent/certificate/Certificates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import * as AcmeStage from "./AcmeStage.ts"

type Stage = Effect.Success<ReturnType<typeof AcmeStage.start>>

const look = ({ certificates, layer }: Stage) => Effect.provide(Certificates.look(certificates), layer)

const leafOf = ({ folder }: Stage) => new X509Certificate(readFileSync(`${folder}/fullchain.pem`))

describe("an agent's certificate", () => {
  it.live("is ordered by TLS-ALPN-01, written with its modes, verified by openssl, and not ordered twice", () =>
    Effect.gen(function* () {
      const stage = yield* AcmeStage.start()
      const { folder, issuer, plane, stateDir, validated } = stage
      const outcome = yield* look(stage)
      assert.strictEqual(outcome?._tag, "Issued")
      assert.deepStrictEqual(validated, ["tls-alpn-01"])
      assert.strictEqual(plane.completes, 1)
      const modes = ["privkey.pem", "acme-account-key.der", "acme-state.json", "fullchain.pem"].map(
        (name) => statSync(`${folder}/${name}`).mode & 0o777
      )
      assert.deepStrictEqual(modes, [0o600, 0o600, 0o600, 0o644 & ~process.umask()])
      writeFileSync(`${stateDir}/root.pem`, issuer.root)
      const verify = ["verify", "-CAfile", `${stateDir}/root.pem`, "-verify_hostname", AcmeStage.hostname]
      assert.include(execFileSync("openssl", [...verify, `${folder}/fullchain.pem`]).toString(), ": OK")
      const first = leafOf(stage)
      assert.isTrue(
        first.checkPrivateKey(
          (yield* Effect.promise(() => import("node:crypto"))).createPrivateKey(readFileSync(`${folder}/privkey.pem`))
        )
      )
      assert.strictEqual((yield* look(stage))?._tag, "Current")
      assert.strictEqual(leafOf(stage).fingerprint256, first.fingerprint256)
      assert.lengthOf(validated, 1)
    }).pipe(Effect.scoped)
  )
})
