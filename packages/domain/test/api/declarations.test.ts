/** What every declaration must keep, so that no route answers in a way that the document does not say. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { BodyTooLarge, MalformedRequest, UnsupportedMediaType, WrongShape } from "@catenet/domain/errors/Requests"

interface Declared {
  readonly name: string
  readonly endpoint: HttpApiEndpoint.Top
  readonly errors: ReadonlySet<unknown>
}

const declared = (api: Parameters<typeof HttpApi.reflect>[0]): ReadonlyArray<Declared> => {
  const all: Array<Declared> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, middleware }) => {
      const errors = new Set<unknown>(endpoint.error)
      for (const service of middleware) for (const error of service.error) errors.add(error)
      all.push({ name: `${endpoint.method} ${endpoint.path}`, endpoint, errors })
    }
  })
  return all
}

const endpoints = [...declared(ControlPlaneApi as never), ...declared(EdgeAdminApi as never)]

/** Texts of which every strict form refuses at least one. */
const junk = ["", "\u0000", "zz", "é".repeat(64), "a".repeat(5000)]

const refusesSome = (schema: Schema.Top | undefined): boolean => {
  if (schema === undefined) return false
  const { ast } = Schema.toEncoded(schema)
  const keys = SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => name) : []
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)
  return junk.some((text) => Result.isFailure(decode(Object.fromEntries(keys.map((key) => [key, text])))))
}

/** Whether a value is required. */
const refusesNothing = (schema: Schema.Top | undefined): boolean =>
  schema !== undefined && Result.isFailure(Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)({}))

describe("every declaration", () => {
  it("is there", () => {
    assert.isAbove(endpoints.length, 130)
  })

  for (const { endpoint, errors, name } of endpoints) {
    it(`${name} declares how it refuses what it cannot read`, () => {
      if (endpoint.payload.size > 0) {
        for (const error of [MalformedRequest, BodyTooLarge, UnsupportedMediaType, WrongShape]) {
          assert.isTrue(errors.has(error), error.tag)
        }
      } else {
        assert.isFalse(errors.has(WrongShape), "no body, no wrong shape")
        const strict =
          [endpoint.params, endpoint.query, endpoint.headers].some(refusesSome) ||
          [endpoint.query, endpoint.headers].some(refusesNothing)
        assert.strictEqual(errors.has(MalformedRequest), strict)
      }
    })
  }

  it("lets everything be read that can be written", () => {
    const readable = new Set<string>(
      endpoints.flatMap(({ endpoint }) => (endpoint.method === "GET" ? [endpoint.path] : []))
    )
    const written = endpoints.flatMap(({ endpoint }) =>
      endpoint.method === "POST" || endpoint.method === "PUT" ? [endpoint.path as string] : []
    )
    for (const path of written) {
      if (acts.some((act) => path.endsWith(act))) continue
      assert.isTrue(readable.has(readElsewhere[path] ?? path), path)
    }
    for (const path of Object.keys(readElsewhere)) assert.include(written, path)
  })
})

/** Paths that name an act, or hand out a secret that cannot be read again. */
const acts = [
  "/agent/acme-issuance-complete/:routing_token/:hostname",
  "/agent/dns01-challenge",
  "/agent-bridge/call",
  "/billing/issue",
  "/bootstrap/mint",
  "/bulk",
  "/challenge",
  "/channel/authorize",
  "/clear",
  "/confirm",
  "/delete",
  "/dismiss",
  "/enroll/issue",
  "/enroll/issue-batch",
  "/heartbeat",
  "/install",
  "/rearm",
  "/rebind",
  "/reclaim-cert-slot",
  "/redeem",
  "/remove",
  "/revoke",
  "/revoke/:token",
  "/rotate",
  "/suggest",
  "/test",
  "/webhook"
]

/** Where the thing that was written is read under another path. */
const readElsewhere: Readonly<Record<string, string>> = {
  "/accounts/open": "/accounts/:account",
  "/admin/accounts/:subject/max-channels": "/admin/accounts/:subject",
  "/admin/accounts/:subject/max-tunnels": "/admin/accounts/:subject",
  "/admin/authorize-host/:host": "/admin/host-auth-dump",
  "/admin/authorize-host/:token/:host": "/admin/host-auth-dump",
  "/admin/provision-tunnel": "/me/tunnels",
  "/internal/tunnel/access-policy": "/internal/edges/rehydrate/:edge_id",
  "/me/channels/:channel/grants/:holder": "/me/channels/:channel/grants",
  "/me/topologies/:id/agents": "/me/topologies/:id",
  "/me/topologies/:id/agents/:agent/label": "/me/topologies/:id",
  "/me/topologies/:id/edges": "/me/topologies/:id",
  "/me/topologies/:id/edges/channel": "/me/topologies/:id",
  "/me/topologies/:id/mode": "/me/topologies/:id",
  "/me/tunnels/:id/agent-bridge/grant": "/me/tunnels/:id/agent-bridge",
  "/payment/intent": "/payment/intent/:payment",
  "/portal/channels/:channel/claim": "/portal/claims",
  "/registry/authorize-host/:routing_token/:hostname": "/agent/acme-admission/:routing_token/:hostname",
  "/registry/register": "/registry/resolve/:token"
}
