/** `ct-agent certificate` as people and their scripts run it: what it says, and the status that it ends with. */
import { type Agent, runAgent } from "@catenet/testing/agent/Agent"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import * as FolderLock from "../../src/state/FolderLock.ts"

/** A stage, and the command at it. */
const start = Effect.fnUntraced(function* (options: Parameters<typeof AcmeStage.start>[0] = {}) {
  const stage = yield* AcmeStage.start(options)
  const { folder, issuer, stateDir, url } = stage
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
  const run = (changed: Readonly<Record<string, string>> = {}, ...flags: ReadonlyArray<string>) =>
    Effect.acquireRelease(
      Effect.sync(() => runAgent(home, { ...env, ...changed }, ["certificate", ...flags])),
      (agent) => Effect.sync(() => agent.kill("SIGKILL"))
    )
  const ended = (agent: Agent) =>
    Effect.promise(async () => ({ status: await agent.exited, text: agent.lines.join("\n"), result: agent.stdout() }))
  const once = (changed?: Readonly<Record<string, string>>) => Effect.flatMap(run(changed), ended)
  return { ...stage, ended, once, run }
})

describe("ct-agent certificate", () => {
  it.live("ends with 0 when the certificate is there, and when it is not due", () =>
    Effect.gen(function* () {
      const { folder, once, plane } = yield* start()
      const issued = yield* once()
      assert.strictEqual(issued.status, 0, issued.text)
      const { validToDate } = new X509Certificate(readFileSync(`${folder}/fullchain.pem`))
      const due = new Date(validToDate.getTime() - 30 * 86_400_000).toISOString()
      assert.strictEqual(issued.result, `The certificate is in ${folder}; it is renewed from ${due} on.\n`)
      const current = yield* once()
      assert.strictEqual(current.status, 0, current.text)
      assert.match(current.result, /^The certificate in \S+ is not due: it is renewed from \S+ on\.\n$/)
      assert.strictEqual(plane.completes, 1)
    }).pipe(Effect.scoped)
  )

  it.live("ends with 4 where it is not its turn, is refused, or another process orders in the folder", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ type: "urn:ietf:params:acme:error:caa", detail: "no" })
      const { folder, layer, once, plane } = yield* start({
        meddle: ({ path }, honest) => (path === "/new-order" ? Promise.resolve({ status: 403, body }) : honest())
      })
      plane.mayIssue = false
      const early = yield* once()
      assert.strictEqual(early.status, 4, early.text)
      assert.include(
        early.text,
        "No certificate can be ordered yet: the name is edge-terminated (gelb); it waits for its turn."
      )
      plane.mayIssue = true
      const refused = yield* once()
      assert.strictEqual(refused.status, 4, refused.text)
      assert.include(refused.text, "CAA records of the domain forbid it; ask your DNS admin to allow this authority.")
      mkdirSync(folder, { recursive: true })
      yield* FolderLock.take(folder, ".acme.lock").pipe(Effect.provide(layer))
      const second = yield* once()
      assert.strictEqual(second.status, 4, second.text)
      assert.include(second.text, `Another process orders a certificate in ${folder}.`)
      assert.isFalse(existsSync(`${folder}/fullchain.pem`))
    }).pipe(Effect.scoped)
  )

  it.live(
    "ends with 5 where the control plane or the authority is not reached, and with 3 where a variable is missing",
    () =>
      Effect.gen(function* () {
        const { folder, once, plane } = yield* start()
        plane.away = true
        const away = yield* once()
        assert.strictEqual(away.status, 5, away.text)
        assert.match(away.text, /The control plane at \S+ could not say whether a certificate may be ordered/)
        plane.away = false
        plane.directory = "https://127.0.0.1:1/directory"
        const silent = yield* once()
        assert.strictEqual(silent.status, 5, silent.text)
        assert.include(silent.text, "127.0.0.1:1 cannot be reached")
        for (const variable of ["CT_ACME_CERT_OUT_DIR", "CT_AGENT_HOSTNAME", "CT_AGENT_TOKEN", "CT_AGENT_CP_URL"]) {
          const unset = yield* once({ [variable]: "" })
          assert.strictEqual(unset.status, 3, unset.text)
          assert.include(unset.text, variable)
        }
        assert.isFalse(existsSync(`${folder}/fullchain.pem`))
      }).pipe(Effect.scoped)
  )

  it.live("goes on with --watch until it is asked to stop", () =>
    Effect.gen(function* () {
      const { ended, folder, run } = yield* start()
      const agent = yield* run({}, "--watch")
      yield* Effect.promise(() => agent.said(`the certificate of ${AcmeStage.hostname} is there until`))
      assert.isTrue(existsSync(`${folder}/privkey.pem`))
      agent.kill("SIGTERM")
      assert.strictEqual((yield* ended(agent)).status, 0)
    }).pipe(Effect.scoped)
  )
})
