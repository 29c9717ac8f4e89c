import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, create, server } from "./ZoneServer.ts"

/** A host name of this many characters, its last labels given. */
const named = (length: number, end: string) => {
  const left = length - end.length - 1
  const labels = Array.from({ length: Math.ceil(left / 64) }, (_, n) => "a".repeat(Math.min(63, left - 64 * n)))
  return `${labels.join(".")}.${end}`
}

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a host name of 253 characters", (it) => {
  it.effect("is authorized, asked about, claimed and checked; one of 254 is malformed everywhere", () =>
    Effect.gen(function* () {
      const token = "ab".repeat(32)
      const [most, more] = [named(253, "long.example.org"), named(254, "long.example.org")]
      assert.deepStrictEqual([most.length, more.length], [253, 254])
      const order = (hostname: string) =>
        ask("operator", `/registry/authorize-host/${token}/${hostname}`, undefined, "POST")
      assert.strictEqual((yield* order(most)).status, 200)
      assert.deepInclude((yield* order(more)).body, { status: 400, code: "MalformedRequest" })
      const admission = (hostname: string) => ask("anonymous", `/agent/acme-admission/${token}/${hostname}`)
      assert.deepInclude((yield* admission(most)).body, { status: "gelb" })
      assert.deepInclude((yield* admission(more)).body, { status: 403, code: "NotHostnameOwner" })
      const complete = (hostname: string) => ask("anonymous", `/agent/acme-issuance-complete/${token}/${hostname}`, {})
      assert.strictEqual((yield* complete(most)).status, 200)
      assert.strictEqual((yield* complete(more)).status, 403)
      const claim = named(253, "other.example.org")
      assert.deepInclude((yield* create("ada", claim)).body.hostname_proof, { hostname: claim, state: "pending" })
      assert.deepInclude((yield* create("ada", `x${claim}`)).body, { status: 400, code: "MalformedRequest" })
      const lookup = (hostname: string) => ask("operator", `/internal/edges/lookup?host=${hostname}`)
      assert.deepInclude((yield* lookup(most)).body, { status: 404, code: "NoLiveEdge" })
      assert.deepInclude((yield* lookup(more)).body, { status: 400, code: "MalformedRequest" })
    })
  )

  it.effect("other parameters of a path are read whole as well", () =>
    Effect.gen(function* () {
      const { body } = yield* create("ada", "cam.tunnels.zone.example")
      const address = `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.example`
      const listed = `/me/tunnels/${body.id}/login-allowlist`
      assert.strictEqual((yield* ask("ada", listed, { email: address })).status, 200)
      assert.strictEqual((yield* ask("ada", `${listed}/${encodeURIComponent(address)}/remove`, {})).status, 200)
      assert.deepStrictEqual((yield* ask("ada", listed)).body, { emails: [] })
    })
  )
})
