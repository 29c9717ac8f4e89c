/** What an agent does by the rules of its tunnel with visitors whose TLS it ends. */
import { allOff } from "@catenet/domain/edges/TunnelOptions"
import type { Rules } from "@catenet/domain/rules/Rules"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import { eventually } from "@catenet/testing/Eventually"
import { echoing, holdRules, overHttp1, overHttp2 } from "@catenet/testing/proxy/RuleCases"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { AddressInfo } from "node:net"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { KeptPolicy } from "../../src/policy/KeptPolicy.ts"
import type { PolicyClient } from "../../src/policy/PolicyClient.ts"
import * as TunnelGate from "../../src/policy/TunnelGate.ts"
import { usualBounds } from "../../src/tunnel/FirstRequestHead.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

const { host } = TerminatingPort
const unused = () => Effect.die("not asked here")
const client: PolicyClient = { caller: unused, fetch: unused, redeem: unused, endSession: unused, session: unused }

const policyOf = (rules: Rules, revision: number) =>
  new TunnelPolicy({
    revision,
    require_login: false,
    sign_in: null,
    share_epoch: 0,
    access: null,
    options: allOff,
    rules
  })

const stage = Effect.gen(function* () {
  let now = 1_000_000_000
  let revision = 0
  const kept = new KeptPolicy(() => now, 3_600)
  const metrics = yield* AgentMetrics
  const enforcement = yield* TunnelGate.make(kept, client, Redacted.make(new Uint8Array(32).fill(3)), metrics)
  const { seen, server } = echoing()
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )
  const { port } = server.address() as AddressInfo
  const { tls } = yield* TerminatingPort.open(port, usualBounds, undefined, undefined, { enforcement })
  const dial = (alpn: ReadonlyArray<string>) => tls("127.0.0.1", alpn)
  const setRules = (rules: Rules) => {
    now += 86_400_000
    revision += 1
    kept.confirmed("t", { policy: policyOf(rules, revision), etag: `${revision}` })
    return Promise.resolve()
  }
  return { metrics, kept, setRules, reached: () => seen.count, dial }
})

const test = (name: string, body: (on: Effect.Success<typeof stage>) => Promise<void>) =>
  it.live(name, () =>
    Effect.flatMap(stage, (on) => Effect.promise(() => body(on))).pipe(
      Effect.scoped,
      Effect.provide([NodeFileSystem.layer, AgentMetrics.layer])
    )
  )

describe("an agent that applies the rules of its tunnel", () => {
  test("does what each says over HTTP/1.1, and counts refusals by rule", async ({
    dial,
    metrics,
    reached,
    setRules
  }) => {
    await holdRules(setRules, overHttp1(host, dial), reached)
    const counted = [
      ["allow", 1],
      ["max_body", 1],
      ["rate_limit", 1],
      ["basic_auth", 3],
      ["require_login", 1]
    ]
    assert.deepStrictEqual([...metrics.refusals], counted as never)
  })

  test("does what each says over HTTP/2", async ({ dial, reached, setRules }) =>
    holdRules(setRules, overHttp2(host, dial), reached))

  test("ends a body without a length where it becomes too long", async ({ dial, reached, setRules }) => {
    await setRules([{ max_body: "1 KiB" as never }])
    const body = "x".repeat(5_000)
    for (const over of [overHttp1, overHttp2]) {
      const ask = over(host, dial)
      const headers = { "transfer-encoding": "chunked" }
      assert.strictEqual((await ask({ method: "POST", headers, body })).status, 413)
      assert.strictEqual((await ask({ method: "POST", headers, body: "x".repeat(1_024) })).status, 200)
    }
    assert.isAtMost(reached(), 4)
  })

  test("holds requests until it knows the policy, and then applies it", async ({ dial, kept, reached, setRules }) => {
    let held = 0
    const { first } = kept
    Object.defineProperty(kept, "first", { get: () => ((held += 1), first) })
    const early = [overHttp1, overHttp2].map((over) => over(host, dial)({}))
    await eventually(() => held === 2, "both requests wait for the policy")
    assert.strictEqual(reached(), 0)
    await setRules([{ allow: [] }])
    for (const answer of await Promise.all(early)) assert.strictEqual(answer.status, 403)
  })

  test("lets no other protocol past them", async ({ dial, reached, setRules }) => {
    await setRules([{ allow: ["127.0.0.0/8" as never] }])
    const socket = dial([])
    const heard = new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())))
    socket.write("\0 another protocol\r\n\r\n")
    assert.match(await heard, /^HTTP\/1.1 400 /)
    socket.destroy()
    assert.strictEqual(reached(), 0)
  })
})
