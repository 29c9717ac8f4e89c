import { runAgent } from "@catenet/testing/agent/Agent"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import * as Certificates from "../../src/certificate/Certificates.ts"

/** The requests of an order, in their order: after each of them one process dies before it hears the answer. */
const steps = [
  "/directory",
  "/new-nonce",
  "/new-account",
  "/new-order",
  "/authorization",
  "/challenge",
  "/finalize",
  "/certificate"
]

describe("an order whose process is killed", () => {
  it.live("at every step is continued by the next one: one order, one account, one certificate", () =>
    Effect.gen(function* () {
      const orders: Array<string> = []
      const dead = new Set<string>()
      let kill = () => {}
      const stage = yield* AcmeStage.start({
        meddle: async ({ path }, honest) => {
          const reply = await honest()
          if (path === "/new-order") orders.push(String(reply.headers?.["location"]))
          const step = steps.find((each) => path.startsWith(each))
          if (step === undefined || dead.has(step)) return reply
          dead.add(step)
          kill()
          return new Promise<never>(() => {})
        }
      })
      const { certificates, folder, issuer, layer, plane, stateDir, url } = stage
      writeFileSync(`${stateDir}/root.pem`, issuer.root)
      const env = {
        CT_AGENT_CP_URL: url,
        CT_AGENT_TOKEN: AcmeStage.token,
        CT_AGENT_HOSTNAME: AcmeStage.hostname,
        CT_AGENT_STATE_DIR: stateDir,
        CT_ACME_CERT_OUT_DIR: folder,
        CT_ACME_CA_FILE: `${stateDir}/root.pem`
      }
      const home = { path: stateDir, [Symbol.asyncDispose]: () => Promise.resolve() }
      for (const step of steps) {
        const agent = runAgent(home, env, ["certificate"])
        kill = () => agent.kill("SIGKILL")
        assert.strictEqual(yield* Effect.promise(() => agent.exited), 137, `${step}: ${agent.lines.join()}`)
        assert.isTrue(dead.has(step), step)
        assert.isFalse(existsSync(`${folder}/fullchain.pem`), step)
      }
      // The last one dies when everything is there but the control plane has not heard of it.
      plane.onComplete = () => kill()
      const last = runAgent(home, env, ["certificate"])
      kill = () => last.kill("SIGKILL")
      assert.strictEqual(yield* Effect.promise(() => last.exited), 137)
      const first = new X509Certificate(readFileSync(`${folder}/fullchain.pem`))
      plane.onComplete = undefined
      const outcome = yield* Effect.provide(Certificates.look(certificates), layer)
      assert.strictEqual(outcome?._tag, "Current")
      assert.strictEqual(plane.completes, 1)
      assert.strictEqual(new Set(orders).size, 1)
      assert.strictEqual(
        new X509Certificate(readFileSync(`${folder}/fullchain.pem`)).fingerprint256,
        first.fingerprint256
      )
      const state = JSON.parse(readFileSync(`${folder}/acme-state.json`, "utf8"))
      assert.lengthOf(state.accounts, 1)
      assert.notProperty(state, "order")
      assert.notProperty(state, "placing")
    }).pipe(Effect.scoped)
  )
})
