/**
 * Every public key in a request's body refuses points of small order, so that a new route cannot store one by accident.
 * The exceptions name keys that are looked up and not stored.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { assert, describe, it } from "@effect/vitest"
import { Schema, SchemaAST } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"

/** Members of 64 hex digits that are no key, or a key that is compared with what is there. */
const others: Readonly<Record<string, string>> = {
  "DELETE /me/topologies/:id/edges .a": "names an end that is there",
  "DELETE /me/topologies/:id/edges .b": "names an end that is there",
  "POST /agent/dns01-challenge .token": "is no key",
  "POST /agent/dns01-challenge/clear .token": "is no key",
  "POST /agent/gate/callers .token": "is no key",
  "POST /agent/gate/redeem .browser": "is no key",
  "POST /agent/gate/redeem .token": "is no key",
  "POST /agent/routing-token .token": "is no key",
  "POST /internal/edges/presence .present[]": "is no key",
  "POST /agent/version .token": "is no key",
  "POST /billing/issue .account": "is no key",
  "POST /billing/issue .idempotency_key": "is no key",
  "POST /bootstrap/redeem .token": "is no key",
  "POST /channel/invite/redeem .challenge": "is no key",
  "POST /enroll/redeem .token": "is no key",
  "POST /internal/channel/authorize .channel": "is no key",
  "POST /internal/channel/authorize .holder": "is looked up among the members",
  "POST /internal/channel/cut .channel": "is no key",
  "POST /internal/channel/presence/bulk .channels[]": "is no key",
  "POST /internal/channel/cut .holder": "is looked up among the members",
  "POST /internal/channel/cut .keeps": "is no key",
  "POST /internal/gate/redeem .browser": "is no key",
  "POST /internal/tunnel/agent-keys []": "come from the control plane, which took them at enrollment",
  "POST /internal/tunnel/agent-proved .key": "is looked up among the enrolled keys",
  "POST /internal/tunnel/agent-proved .token": "is no key",
  "POST /me/channels .channel": "is no key",
  "POST /me/topologies/:id/agents/:agent/noise-key .channel": "is no key",
  "POST /me/issue .idempotency_key": "is no key",
  "POST /me/pipelines .spec.operator_pubkey_hex": "the payload as a whole refuses them",
  "POST /me/topologies/:id/suggest .links[].a": "names an end that is there",
  "POST /me/topologies/:id/suggest .links[].b": "names an end that is there",
  "POST /me/tunnels/:id/agent-bridge/grant .channel_id": "is no key",
  "POST /payment/intent .account": "is no key",
  "POST /registry/pipelines .spec.operator_pubkey_hex": "the payload as a whole refuses them",
  "POST /registry/register .token": "is no key",
  "PUT /me/topologies/:id/edges/channel .a": "names an end that is there",
  "PUT /me/topologies/:id/edges/channel .b": "names an end that is there",
  "PUT /me/topologies/:id/edges/channel .channel": "is no key"
}

const accepts = (ast: SchemaAST.AST, text: string) => Schema.is(Schema.make<Schema.Schema<string>>(ast))(text)

/** Whether it takes 64 hex digits and no other text. */
const isHex64 = (ast: SchemaAST.AST) =>
  SchemaAST.isString(ast) && accepts(ast, "1f".repeat(32)) && !accepts(ast, "1f") && !accepts(ast, "x".repeat(64))

/** The members of a body that take a key, and whether each refuses one of small order. */
const keysOf = (payload: HttpApiEndpoint.PayloadMap) => {
  const found: Array<{ readonly path: string; readonly refused: boolean }> = []
  const seen = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST, path: string): void => {
    if (isHex64(ast)) return void found.push({ path, refused: !accepts(ast, "00".repeat(32)) })
    if (seen.has(ast)) return
    seen.add(ast)
    for (const { to } of ast.encoding ?? []) visit(to, path)
    if (SchemaAST.isArrays(ast)) for (const each of [...ast.elements, ...ast.rest]) visit(each, `${path}[]`)
    else if (SchemaAST.isObjects(ast)) {
      for (const { name, type } of ast.propertySignatures) visit(type, `${path}.${String(name)}`)
      for (const { type } of ast.indexSignatures) visit(type, `${path}.*`)
    } else if (SchemaAST.isUnion(ast)) for (const each of ast.types) visit(each, path)
    else if (SchemaAST.isDeclaration(ast)) for (const each of ast.typeParameters) visit(each, path)
    else if (SchemaAST.isSuspend(ast)) visit(ast.thunk(), path)
  }
  for (const { schemas } of payload.values()) for (const { ast } of schemas) visit(ast, "")
  return found
}

const members: Array<{ readonly member: string; readonly refused: boolean }> = []
for (const api of [ControlPlaneApi, EdgeAdminApi])
  HttpApi.reflect(api as never, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      for (const { path, refused } of keysOf(endpoint.payload))
        members.push({ member: `${endpoint.method} ${endpoint.path} ${path}`, refused })
    }
  })

describe("public keys in bodies", () => {
  it("are found", () => assert.isAbove(members.filter(({ refused }) => refused).length, 8))

  it("refuse points of small order wherever they are stored", () => {
    const accepted = members.filter(({ refused }) => !refused).map(({ member }) => member)
    assert.deepStrictEqual([...new Set(accepted)].toSorted(), Object.keys(others).toSorted())
  })
})
