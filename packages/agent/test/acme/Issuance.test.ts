import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createPrivateKey, X509Certificate } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import * as Certificates from "../../src/certificate/Certificates.ts"

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
      assert.isTrue(first.checkPrivateKey(createPrivateKey(readFileSync(`${folder}/privkey.pem`))))
      assert.strictEqual((yield* look(stage))?._tag, "Current")
      assert.strictEqual(leafOf(stage).fingerprint256, first.fingerprint256)
      assert.lengthOf(validated, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is ordered through a server that refuses every third nonce", () =>
    Effect.gen(function* () {
      let posts = 0
      const stage = yield* AcmeStage.start({
        meddle: async ({ method }, honest) => {
          if (method !== "POST" || ++posts % 3 !== 0) return honest()
          const { headers } = await honest("{}")
          return {
            status: 400,
            headers: headers ?? {},
            body: JSON.stringify({ type: "urn:ietf:params:acme:error:badNonce", detail: "again" })
          }
        }
      })
      assert.strictEqual((yield* look(stage))?._tag, "Issued")
    }).pipe(Effect.scoped)
  )

  it.live("is ordered with an account that is bound to the operator's, and refused in one sentence without", () =>
    Effect.gen(function* () {
      const hmac = Buffer.from("a key of the operator's")
      const stage = yield* AcmeStage.start({ binding: { kid: "kid-1", hmac } })
      const refused = yield* look(stage)
      assert.include(refused?._tag === "Failed" ? refused.sentence : "", "must set its external account binding")
      stage.plane.binding = { kid: "kid-1", hmac: hmac.toString("base64url") }
      assert.strictEqual((yield* look(stage))?._tag, "Issued")
    }).pipe(Effect.scoped)
  )

  it.live("that the control plane did not hear of is reported again until it did, and not ordered again", () =>
    Effect.gen(function* () {
      const stage = yield* AcmeStage.start()
      const { plane, validated } = stage
      plane.completeStatus = 500
      assert.strictEqual((yield* Effect.flip(look(stage)))._tag, "Unreachable")
      const first = leafOf(stage)
      plane.completeStatus = 200
      assert.strictEqual((yield* look(stage))?._tag, "Current")
      assert.strictEqual(plane.completes, 1)
      assert.strictEqual(leafOf(stage).fingerprint256, first.fingerprint256)
      assert.lengthOf(validated, 1)
      yield* look(stage)
      assert.strictEqual(plane.completes, 1, "once is enough")
    }).pipe(Effect.scoped)
  )

  it.live("is renewed when its authority suggests, and the new one replaces it with a key of its own", () =>
    Effect.gen(function* () {
      const day = 86_400_000
      const time = { at: Date.parse("2026-12-01") }
      const stage = yield* AcmeStage.start({ now: () => time.at })
      const { folder, plane } = stage
      // The clock of the control plane counts where that of this machine is far off it.
      const after = (days: number) =>
        Effect.suspend(() => {
          time.at += days * day
          plane.date = time.at
          return look(stage)
        })
      assert.strictEqual((yield* after(0))?._tag, "Issued")
      const first = leafOf(stage)
      assert.strictEqual((yield* after(50))?._tag, "Current")
      assert.strictEqual((yield* after(10))?._tag, "Issued")
      const second = leafOf(stage)
      assert.notStrictEqual(second.fingerprint256, first.fingerprint256)
      assert.isFalse(second.publicKey.equals(first.publicKey))
      assert.strictEqual(plane.completes, 2)
      assert.isTrue(second.checkPrivateKey(createPrivateKey(readFileSync(`${folder}/privkey.pem`))))
    }).pipe(Effect.scoped)
  )

  it.live("that ended before it could be fetched is ordered anew", () =>
    Effect.gen(function* () {
      const day = 86_400_000
      const time = { at: Date.parse("2026-12-01") }
      let isDown = true
      const stage = yield* AcmeStage.start({
        now: () => time.at,
        meddle: ({ path }, honest) =>
          isDown && path.startsWith("/certificate") ? Promise.resolve({ status: 503 }) : honest()
      })
      const { plane } = stage
      plane.date = time.at
      const away = yield* look(stage)
      assert.include(away?._tag === "Failed" ? away.sentence : "", "status 503")
      isDown = false
      time.at += 100 * day
      plane.date = time.at
      const ended = yield* look(stage)
      assert.include(ended?._tag === "Failed" ? ended.sentence : "", "it gave a certificate for another time")
      assert.strictEqual((yield* look(stage))?._tag, "Issued")
      assert.isAbove(leafOf(stage).validToDate.getTime(), time.at)
    }).pipe(Effect.scoped)
  )

  it.live("stays as it is, with a sentence, where a file of the agent's own is not what it should be", () =>
    Effect.gen(function* () {
      const stage = yield* AcmeStage.start()
      const { folder } = stage
      const failed = Effect.map(Effect.flip(look(stage)), ({ message }) => message)
      mkdirSync(folder)
      writeFileSync(`${folder}/acme-account-key.der`, "no key")
      assert.include(yield* failed, "it is no PKCS#8 DER of a P-256 key")
      rmSync(`${folder}/acme-account-key.der`)
      symlinkSync("/etc/hostname", `${folder}/privkey.pem`)
      assert.include(yield* failed, "it is a symbolic link")
      rmSync(`${folder}/privkey.pem`)
      writeFileSync(`${folder}/acme-state.json`, "{}")
      assert.include(yield* failed, "it cannot be understood")
      assert.isFalse(existsSync(`${folder}/acme-account-key.der`), "no authority was asked")
    }).pipe(Effect.scoped)
  )
})
