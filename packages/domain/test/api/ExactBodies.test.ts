/**
 * Every write of our own refuses members that it does not know, so that a misspelt setting is not ignored silently. The
 * exceptions are the bodies of the contract, and those that agents, edges and other control planes' programs send.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"

const lenient: ReadonlySet<string> = new Set([
  "DELETE /me/topologies/:id/edges",
  "POST /admin/provision-tunnel",
  "POST /billing/issue",
  "POST /channel/invite/redeem",
  "POST /enroll/issue",
  "POST /enroll/issue-batch",
  "POST /me/agents-directory",
  "POST /me/channels",
  "POST /me/channels/:channel/allowlist",
  "POST /me/channels/:channel/claim-invites",
  "POST /me/channels/:channel/grants/:holder",
  "POST /me/channels/:channel/members",
  "POST /me/issue",
  "POST /me/pipelines",
  "POST /me/rooms",
  "POST /me/service-accounts",
  "POST /me/topologies/:id/agents",
  "POST /me/topologies/:id/agents/:agent/noise-key",
  "POST /me/topologies/:id/edges",
  "POST /me/topologies/:id/share",
  "POST /me/topologies/:id/suggest",
  "POST /payment/intent",
  "POST /payment/webhook",
  "POST /portal/channels/:channel/claim",
  "POST /registry/agents",
  "POST /registry/pipelines",
  "PUT /me/topologies/:id/edges/channel",
  "PUT /me/topologies/:id/mode",
  "PUT /me/topologies/:id/operator"
])
/** What agents and edges send, which may be newer than the control plane. */
const ofPrograms = /^\S+ \/(?:agent|bootstrap|enroll\/redeem|internal|registry\/register)\b/u

const bodies: Array<{ readonly name: string; readonly refuses: boolean }> = []
HttpApi.reflect(ControlPlaneApi as never, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, mergedAnnotations }) => {
    if (endpoint.payload.size === 0) return
    const options = Context.getOrUndefined(mergedAnnotations, HttpApi.PayloadParseOptions)
    bodies.push({ name: `${endpoint.method} ${endpoint.path}`, refuses: options?.onExcessProperty === "error" })
  }
})

describe("unknown members of a body", () => {
  it("are refused by every write of our own", () => {
    const ignored = bodies.filter(({ name, refuses }) => !refuses && !ofPrograms.test(name))
    assert.deepStrictEqual(
      ignored.map(({ name }) => name).filter((name) => !lenient.has(name)),
      []
    )
    const names = new Set(bodies.map(({ name }) => name))
    assert.deepStrictEqual(
      [...lenient].filter((name) => !names.has(name)),
      []
    )
    assert.isAbove(bodies.filter(({ refuses }) => refuses).length, 15)
  })

  it("are ignored by every body of the contract and of programs", () => {
    const refused = bodies.filter(({ name, refuses }) => refuses && (lenient.has(name) || ofPrograms.test(name)))
    assert.deepStrictEqual(refused, [])
  })
})
