/**
 * The agent's client at an ACME server that neither of the two has written: strict, with accounts bound to an external one, with
 * 30 % of the nonces refused.
 */
import { start, temporaryFolder, token } from "@catenet/testing/edge/TestEdge"
import { serving } from "@catenet/testing/stack/agent/Serving"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import * as AgentAt from "./AgentAt.ts"
import * as GoPrograms from "./GoPrograms.ts"
import * as Pebble from "./Pebble.ts"

const host = AgentAt.host
const folder = await GoPrograms.built(Pebble.programs)

/** An agent at pebble. */
const stage = Effect.fnUntraced(function* (
  methods: AgentAt.Options["methods"],
  stateDir: string,
  tlsPort: number,
  hostname = host
) {
  const pebble = yield* Pebble.start(folder ?? "", tlsPort)
  const agent = yield* AgentAt.start({
    directory: pebble.directory,
    roots: pebble.httpsRoot,
    methods,
    stateDir,
    hostname
  })
  agent.plane.binding = Pebble.binding
  return { ...agent, pebble, verified: () => pebble.issuingRoot().then(agent.verified) }
})

describe.skipIf(folder === undefined)("pebble", () => {
  it.live("validates a host by TLS-ALPN-01 through an edge and an agent, and has it renewed when it suggests", () =>
    Effect.gen(function* () {
      const world = yield* start()
      yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
      const { stateDir } = yield* serving(world, token("1"), host)
      const { chain, look, pebble, plane, verified } = yield* stage(["tls-alpn-01"], stateDir, world.frontDoor)
      plane.binding = undefined
      const unbound = yield* look
      assert.include(unbound?._tag === "Failed" ? unbound.sentence : "", "must set its external account binding")
      plane.binding = Pebble.binding
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.include(yield* Effect.promise(verified), ": OK")
      assert.strictEqual((yield* look)?._tag, "Current")
      const first = readFileSync(chain, "utf8")

      const now = yield* Clock.currentTimeMillis
      const [from, until] = [new Date(now - 7_200_000), new Date(now - 3_600_000)]
      yield* Effect.promise(() => pebble.suggestRenewal(first, from, until))
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.include(yield* Effect.promise(verified), ": OK")
      const second = readFileSync(chain, "utf8")
      assert.isFalse(new X509Certificate(second).publicKey.equals(new X509Certificate(first).publicKey))
      assert.match(pebble.log(), /ARI: order .* is a replacement of/)
      assert.strictEqual(plane.completes, 2)
      assert.include(pebble.log(), "reject", "nonces were refused")
    }).pipe(Effect.scoped)
  )

  it.live("validates a host by DNS-01 through the broker, and refuses a proof that is not there", () =>
    Effect.gen(function* () {
      const stateDir = yield* temporaryFolder
      const { look, pebble, plane, verified } = yield* stage(["dns-01"], stateDir, 1)
      plane.dns = () => Promise.resolve(undefined)
      const refused = yield* look
      assert.include(refused?._tag === "Failed" ? refused.sentence : "", "refused (unauthorized)")
      const published: Array<string | undefined> = []
      plane.dns = async (value) => {
        published.push(value)
        await pebble.publish(host, value)
        return undefined
      }
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.include(yield* Effect.promise(verified), ": OK")
      assert.lengthOf(published, 2)
      assert.match(published[0] ?? "", /^[A-Za-z0-9_-]{43}$/)
      assert.isUndefined(published[1], "and taken away")
    }).pipe(Effect.scoped)
  )

  it.live("validates a wildcard by DNS-01 at the name below which it stands", () =>
    Effect.gen(function* () {
      const { look, pebble, plane, verified } = yield* stage(["dns-01"], yield* temporaryFolder, 1, `*.${host}`)
      plane.dns = async (value) => {
        await pebble.publish(host, value)
        return undefined
      }
      assert.strictEqual((yield* look)?._tag, "Issued")
      assert.include(yield* Effect.promise(verified), ": OK", "for any name below")
      assert.strictEqual((yield* look)?._tag, "Current")
    }).pipe(Effect.scoped)
  )
})
