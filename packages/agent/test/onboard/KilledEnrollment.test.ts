/**
 * An enrollment that stops for good at any of its steps, as a killed process does: nothing after the step happens, no finalizer
 * either. Real files, a real control plane over HTTP; only the step is made to never return, or to fail as a full disk does.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { makeHome } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startControlPlane } from "@catenet/testing/agent/ControlPlane"
import { files, http, Steps } from "@catenet/testing/agent/Steps"
import { token } from "@catenet/testing/agent/Surroundings"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Exit, Layer, Redacted, References, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as Onboarding from "../../src/onboard/Onboarding.ts"
import { OnboardingClient } from "../../src/onboard/OnboardingClient.ts"
import type * as Settings from "../../src/settings/Settings.ts"
import { parse } from "../harness/Settings.ts"

const settingsOf = (url: string, stateDir: string, joinToken: string, agent: string) =>
  settingsWith(url, stateDir, agent, { CT_AGENT_TOKEN: token, CT_AGENT_JOIN_TOKEN: joinToken })

const settingsWith = (url: string, stateDir: string, agent: string, tokens: Readonly<Record<string, string>>) =>
  Result.getOrThrow(
    parse({
      ...tokens,
      CT_AGENT_CP_URL: url,
      CT_AGENT_HOSTNAME: "hello.example",
      CT_AGENT_MODE: "browser",
      CT_AGENT_STATE_DIR: stateDir,
      CT_AGENT_ID: agent
    })
  )

type Outcome = Exit.Exit<Onboarding.Onboarded, { readonly _tag: string }> | "killed"

const run = (settings: Settings.Settings, steps: Steps): Promise<Outcome> => {
  const onboarding = Onboarding.onboard(settings, true).pipe(
    Effect.provide(OnboardingClient.layer(settings.controlPlane).pipe(Layer.provide(http(steps)))),
    Effect.provide(files(steps)),
    Effect.provide(SecureRandom.layerWebCrypto),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
  // What was killed is neither awaited nor interrupted: its finalizers must not run.
  return Promise.race([Effect.runPromiseExit(onboarding), steps.reached.promise])
}

const whole = Number.POSITIVE_INFINITY

describe.concurrent("an enrollment", () => {
  for (const fate of ["killed", "disk full"] as const)
    for (const before of ["a new folder", "the folder of another agent"] as const)
      it(`loses no join token wherever it is stopped (${fate}, in ${before})`, async () => {
        await using plane = await startControlPlane(makeAuthority().der)
        let stopped = 0
        for (let at = 0; ; at++) {
          await using home = await makeHome()
          const joinToken = at.toString(16).padStart(64, "c")
          plane.joinTokens.set(joinToken, "fresh")
          const stateDir = `${home.path}/state`
          if (before === "the folder of another agent") {
            const other = "d".repeat(60) + at.toString(16).padStart(4, "0")
            plane.joinTokens.set(other, "fresh")
            await run(settingsOf(plane.url, stateDir, other, "one"), new Steps(whole, fate))
          }
          const settings = settingsOf(plane.url, stateDir, joinToken, "two")
          const steps = new Steps(at, fate)
          const outcome = await run(settings, steps)
          if (outcome !== "killed" && outcome._tag === "Failure") {
            const asked = plane.joinTokens.get(joinToken) === "spent"
            assert.isTrue(
              !asked || existsSync(`${stateDir}/identity.key.new`),
              `step ${at} forgot the key of a spent token`
            )
          }
          const again = await run(settings, new Steps(whole, fate))
          if (again === "killed" || again._tag === "Failure")
            return assert.fail(`after step ${at}: ${JSON.stringify(again)}`)
          const identity = again.value.identity ?? assert.fail("no identity")
          assert.strictEqual(identity.tenant, "tenant-1")
          assert.strictEqual(identity.agent, "two", `after step ${at}`)
          const key = Hex.encode(native.ed25519.publicKey(Redacted.value(identity.seed)))
          assert.strictEqual(plane.agents.get("two"), key, `step ${at} left the control plane with another key`)
          assert.deepStrictEqual(
            new Uint8Array(readFileSync(`${stateDir}/identity.key`)),
            Redacted.value(identity.seed)
          )
          assert.deepStrictEqual(readdirSync(stateDir).toSorted(), ["agent", "identity.key", "tenant"])
          plane.agents.clear()
          const calls = plane.calls.length
          const third = await run(settings, new Steps(whole, fate))
          assert.isTrue(third !== "killed" && third._tag === "Success")
          assert.strictEqual(plane.calls.length, calls, "a stored identity asks for nothing")
          if (steps.count <= at) break
          stopped++
        }
        assert.isAbove(stopped, 20)
      })

  for (const fate of ["killed", "disk full"] as const)
    it(`loses no bootstrap token wherever it is stopped (${fate})`, async () => {
      await using plane = await startControlPlane(makeAuthority().der)
      let stopped = 0
      for (let at = 0, asked = whole; ; at += at < asked || at > asked + 12 ? 6 : 1) {
        await using home = await makeHome()
        const joinToken = at.toString(16).padStart(64, "c")
        const bootstrap = at.toString(16).padStart(64, "b")
        plane.joinTokens.set(joinToken, "fresh")
        plane.bootstrapTokens.set(bootstrap, `CT_JOIN_TOKEN=${joinToken};CT_AGENT_TOKEN=${token}`)
        const stateDir = `${home.path}/state`
        const settings = settingsWith(plane.url, stateDir, "two", { CT_BOOTSTRAP: bootstrap })
        const steps = new Steps(at, fate)
        await run(settings, steps)
        // Steps are few between a request and what is stored of its answer, and each of them counts.
        if (steps.asked < whole && asked === whole) at = asked = steps.asked
        const again = await run(settings, new Steps(whole, fate))
        if (again === "killed" || again._tag === "Failure")
          return assert.fail(`after step ${at}: ${JSON.stringify(again)}`)
        const identity = again.value.identity ?? assert.fail("no identity")
        const key = Hex.encode(native.ed25519.publicKey(Redacted.value(identity.seed)))
        assert.strictEqual(plane.agents.get("two"), key, `step ${at} left the control plane with another key`)
        assert.strictEqual(Hex.encode(Redacted.value(again.value.token ?? assert.fail("no token"))), token)
        assert.deepStrictEqual(readdirSync(stateDir).toSorted(), [
          "agent",
          "bootstrap.secret",
          "identity.key",
          "tenant"
        ])
        plane.agents.clear()
        if (steps.count <= at) break
        stopped++
      }
      assert.isAbove(stopped, 10)
    })
})
