import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { allowUnknownMembers } from "@catenet/domain/api/DescribedApi"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"

const strict = { type: "object", additionalProperties: false }
const referring = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const body = (schema: object) => ({ content: { "application/json": { schema } } })

describe("the members that the OpenAPI document allows", () => {
  it("are any, in a request and in whatever it refers to, and the known ones in an answer", () => {
    const schemas = {
      Asked: { ...strict, properties: { inner: referring("Inner") } },
      Inner: { ...strict, properties: { again: referring("Asked") } },
      Answered: strict
    }
    const post = {
      requestBody: body({ ...strict, items: referring("Asked") }),
      responses: { 200: body(referring("Answered")) }
    }
    const spec = allowUnknownMembers({ openapi: "3.1.0", paths: { "/a": { post } }, components: { schemas } })
    assert.deepStrictEqual(spec, {
      openapi: "3.1.0",
      paths: { "/a": { post: { ...post, requestBody: body({ type: "object", items: referring("Asked") }) } } },
      components: {
        schemas: {
          Asked: { type: "object", properties: { inner: referring("Inner") } },
          Inner: { type: "object", properties: { again: referring("Asked") } },
          Answered: strict
        }
      }
    })
  })

  it("are the known ones where the operation refuses others", () => {
    const post = { requestBody: body({ ...strict, items: referring("Asked") }) }
    const schemas = { Asked: { ...strict, properties: {} } }
    const spec = allowUnknownMembers({
      paths: { "/a": { post: { ...post, "x-exact-body": true } } },
      components: { schemas }
    })
    assert.deepStrictEqual(spec, { paths: { "/a": { post } }, components: { schemas } })
  })

  it("are any in every request of the control plane that does not refuse them", () => {
    const { components, paths } = OpenApi.fromApi(ControlPlaneApi)
    const operations = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map((operation) => operation as OpenApi.OpenAPISpecOperation)
    )
    const refusing = operations.filter(({ description = "" }) => description.includes("unknown members are refused"))
    assert.isAbove(refusing.length, 10)
    for (const { operationId, requestBody } of refusing)
      assert.match(JSON.stringify(requestBody), /"additionalProperties":false|schemas\//u, operationId)
    const bodies = operations.flatMap((operation) =>
      refusing.includes(operation) ? [] : (operation.requestBody ?? [])
    )
    assert.isAbove(bodies.length, 20)
    const said = JSON.stringify(bodies)
    assert.notInclude(said, `"additionalProperties":false`)
    for (const [, name = ""] of said.matchAll(/schemas\/([^"]+)"/gu))
      assert.notInclude(JSON.stringify(components.schemas[name]), `"additionalProperties":false`, name)
    assert.include(JSON.stringify(components.schemas), `"additionalProperties":false`)
  })
})
