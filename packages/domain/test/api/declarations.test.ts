/** What every declaration must keep, so that no route answers in a way that the document does not say. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { BodyTooLarge, MalformedRequest, UnsupportedMediaType, WrongShape } from "@catenet/domain/values/RequestErrors"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

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

const ofEdges = declared(EdgeAdminApi as never)
const endpoints = [...declared(ControlPlaneApi as never), ...ofEdges]

/** What each endpoint with a body can say of one that it cannot read; the statuses of an edge are fewer. */
const unreadable = [MalformedRequest, BodyTooLarge, UnsupportedMediaType, WrongShape]
const unreadableByEdges = [MalformedRequest, BodyTooLarge]

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

  for (const one of endpoints) {
    const { endpoint, errors, name } = one
    it(`${name} meters its caller, not the address that the caller shares with others`, () => {
      const inwards = [...endpoint.middlewares].map(({ key }) => key.replace(/^.*\//u, ""))
      const access = inwards.findIndex((key) => ["BearerAccess", "SessionAccess", "AccountAccess"].includes(key))
      if (access >= 0) assert.isBelow(inwards.indexOf("RateLimit"), access)
    })

    it(`${name} declares how it refuses what it cannot read`, () => {
      if (endpoint.payload.size > 0) {
        assert.deepStrictEqual(
          unreadable.filter((error) => errors.has(error)),
          ofEdges.includes(one) ? unreadableByEdges : unreadable
        )
      } else {
        assert.isFalse(errors.has(WrongShape), "no body, no wrong shape")
        const strict =
          [endpoint.params, endpoint.query, endpoint.headers].some(refusesSome) ||
          [endpoint.query, endpoint.headers].some(refusesNothing)
        assert.strictEqual(errors.has(MalformedRequest), strict)
      }
    })
  }

  it("judges the length of every list of a request before its elements", () => {
    const lists = endpoints.map(({ endpoint, name }) => ({ name, ...listsOf(endpoint.payload) }))
    assert.deepStrictEqual(
      lists.filter(({ unbounded }) => unbounded > 0).map(({ name }) => name),
      []
    )
    assert.isAbove(lists.filter(({ bounded }) => bounded > 0).length, 7)
  })

  it("can be read with GET wherever it can be written", () => {
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

  it("gives every list in pages, where a caller wants them", () => {
    const lists = declared(ControlPlaneApi as never).filter(
      ({ endpoint }) => endpoint.method === "GET" && [...endpoint.success].some(isList)
    )
    assert.isAbove(lists.length, 25)
    const unpaged = lists.filter(({ endpoint }) => !["limit", "cursor"].every((key) => keysOf(endpoint.query).has(key)))
    assert.deepStrictEqual(unpaged.map(({ name }) => name).toSorted(), Object.keys(whole).toSorted())
  })

  it("takes an idempotency key where a repeated POST would make a second thing, or be refused", () => {
    const posts = endpoints.filter(({ endpoint }) => endpoint.method === "POST")
    const without = posts.filter(({ endpoint }) => !keysOf(endpoint.headers).has("idempotency-key"))
    const creating = without.filter(
      ({ endpoint: { path } }) => !acts.some((act) => path.endsWith(act)) && !sameAgain.includes(path)
    )
    assert.deepStrictEqual(
      creating.map(({ name }) => name),
      []
    )
    const others = new Set<string>(without.map(({ endpoint }) => endpoint.path))
    for (const path of sameAgain) assert.isTrue(others.has(path), path)
  })
})

const keysOf = (schema: Schema.Top | undefined): ReadonlySet<PropertyKey> => {
  if (schema === undefined) return new Set()
  const { ast } = Schema.toEncoded(schema)
  return new Set(SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => name) : [])
}

const isBoundedArray = (ast: SchemaAST.AST): boolean =>
  JSON.stringify(ast.checks?.map(({ annotations }) => annotations?.["representation"]))?.includes("/bounded") === true

/** How many lists and maps a request may hold: those made by `boundedArray`, and all others. */
const listsOf = (payload: HttpApiEndpoint.PayloadMap) => {
  const seen = new Set<SchemaAST.AST>()
  let bounded = 0
  let unbounded = 0
  const visit = (ast: SchemaAST.AST): void => {
    if (seen.has(ast)) return
    seen.add(ast)
    const steps = (ast.encoding ?? []).map(({ to }) => to)
    steps.forEach(visit)
    if (SchemaAST.isArrays(ast)) {
      if (steps.some(isBoundedArray)) bounded++
      else if (ast.rest.length > 0) unbounded++
      ast.elements.concat(ast.rest).forEach(visit)
    } else if (SchemaAST.isObjects(ast)) {
      if (!steps.some(isBoundedArray)) unbounded += ast.indexSignatures.length
      for (const { type } of ast.propertySignatures) visit(type)
    } else if (SchemaAST.isUnion(ast)) ast.types.forEach(visit)
    else if (SchemaAST.isDeclaration(ast)) ast.typeParameters.forEach(visit)
    else if (SchemaAST.isSuspend(ast)) visit(ast.thunk())
  }
  for (const { schemas } of payload.values()) for (const { ast } of schemas) visit(ast)
  return { bounded, unbounded }
}

/** An array, or an array with a name, perhaps beside an id. */
const isList = (schema: Schema.Top): boolean => {
  const { ast } = Schema.toEncoded(schema)
  if (SchemaAST.isArrays(ast)) return true
  if (!SchemaAST.isObjects(ast)) return false
  const members = ast.propertySignatures
  return members.length <= 2 && members.some(({ type }) => SchemaAST.isArrays(type))
}

/** Lists that are given whole, and why. */
const whole: Readonly<Record<string, string>> = {
  "GET /portal/channels/:channel/grant": "one account's identities on one channel"
}

/** POSTs that state how a thing is to be: done twice, they leave one, and answer the same. */
const sameAgain = [
  "/admin/accounts/:subject/max-channels",
  "/admin/accounts/:subject/max-tunnels",
  "/admin/authorize-host/:host",
  "/admin/authorize-host/:token/:host",
  "/admin/release-host/:host",
  "/internal/tunnel/access-policy",
  "/internal/tunnel/agent-keys",
  "/internal/tunnel/agent-proved",
  "/internal/tunnel/login",
  "/internal/tunnel/options",
  "/internal/tunnel/port",
  "/internal/tunnel/rules",
  "/me/channels",
  "/me/channels/:channel/allowlist",
  "/me/channels/:channel/grants/:holder",
  "/me/channels/:channel/members",
  "/me/agents-directory",
  "/me/pipelines",
  "/me/rooms",
  "/me/topologies/:id/share",
  "/me/tunnels/:id/agent-bridge/grant",
  "/me/tunnels/:id/badge",
  "/me/tunnels/:id/grants",
  "/me/tunnels/:id/login-allowlist",
  "/portal/channels/:channel/claim",
  "/registry/agents",
  "/registry/authorize-host/:routing_token/:hostname",
  "/registry/pipelines",
  "/registry/register"
]

/** Paths that name an act, or hand out a secret that cannot be read again. */
const acts = [
  "/agent/acme-issuance-complete/:routing_token/:hostname",
  "/agent/acme-issuance-failed/:routing_token/:hostname",
  "/agent/acme-standing/:routing_token/:hostname",
  "/agent/dns01-challenge",
  "/agent/gate/callers",
  "/agent/routing-token",
  "/agent/version",
  "/agent-bridge/call",
  "/billing/issue",
  "/bootstrap/mint",
  "/bulk",
  "/certificates",
  "/challenge",
  "/channel/authorize",
  "/channel/cut",
  "/check",
  "/clear",
  "/confirm",
  "/delete",
  "/dismiss",
  "/end",
  "/enroll/issue",
  "/enroll/issue-batch",
  "/heartbeat",
  "/install",
  // What is stored is for edges, which are given it with the answer of `/channel/authorize`.
  "/noise-key",
  "/presence",
  "/rearm",
  "/rebind",
  "/reclaim-cert-slot",
  "/redeem",
  "/remove",
  "/revoke",
  "/revoke/:token",
  "/rotate",
  "/rotate-token",
  "/suggest",
  "/test",
  "/ticket-keys",
  "/verify-hostname",
  "/webhook"
]

/** Where the thing that was written is read under another path. */
const readElsewhere: Readonly<Record<string, string>> = {
  "/me/channels/:channel/join-links": "/bootstrap/mint",
  "/accounts/open": "/accounts/:account",
  "/admin/accounts/:subject/max-channels": "/admin/accounts/:subject",
  "/admin/accounts/:subject/max-tunnels": "/admin/accounts/:subject",
  "/admin/authorize-host/:host": "/admin/host-auth-dump",
  "/admin/authorize-host/:token/:host": "/admin/host-auth-dump",
  "/admin/provision-tunnel": "/me/tunnels",
  "/admin/release-host/:host": "/admin/host-auth-dump",
  "/me/tunnels/:id/hostname": "/me/tunnels/:id",
  "/internal/tunnel/access-policy": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/agent-keys": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/agent-proved": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/login": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/options": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/port": "/internal/edges/rehydrate/:edge_id",
  "/internal/tunnel/rules": "/internal/edges/rehydrate/:edge_id",
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
