/** The OpenAPI documents say what the API values declare, and their listings show a reviewer what has changed. */
import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { HttpApi, OpenApi } from "effect/http-api"
import { codesOf, type Document, listing } from "./OpenApiListing.ts"

const apis = { "control-plane": ControlPlaneApi, edge: EdgeAdminApi, agent: AgentLocalApi }

/** What an API value declares of each operation: the statuses, and the errors by the status that they answer with. */
const declaredBy = (api: Parameters<typeof HttpApi.reflect>[0]) => {
  const operations = new Map<
    string,
    { readonly successes: Array<string>; readonly refusals: Map<string, Set<string>> }
  >()
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, errors, successes }) => {
      const refusals = [...errors].map(
        ([status, schemas]) => [String(status), new Set(schemas.flatMap(({ ast }) => codeOf(ast)))] as const
      )
      const path = endpoint.path.replaceAll(/:(\w+)\??/gu, "{$1}")
      operations.set(`${endpoint.method} ${path}`, {
        successes: [...successes.keys()].map(String),
        refusals: new Map(refusals)
      })
    }
  })
  return operations
}
/** The code of a problem is the identifier of its class; an answer that is no problem has none. */
const codeOf = ({ annotations = {} }: { readonly annotations?: Readonly<Record<string, unknown>> | undefined }) => {
  const { identifier } = annotations
  return typeof identifier === "string" ? [identifier] : []
}

describe("the OpenAPI document", () => {
  for (const [name, api] of Object.entries(apis)) {
    const document = JSON.parse(JSON.stringify(OpenApi.fromApi(api as typeof ControlPlaneApi))) as Document
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const)
    )
    const declared = declaredBy(api as never)

    it(`of the ${name} has each operation that its API value declares, and no other`, ({ expect }) => {
      expect(operations.map(([operation]) => operation).toSorted()).toStrictEqual([...declared.keys()].toSorted())
      const ids = operations.map(([, { operationId }]) => operationId)
      expect(new Set(ids).size).toBe(ids.length)
    })

    it(`of the ${name} says of each operation the statuses and the errors that it declares`, ({ expect }) => {
      for (const [operation, { responses }] of operations) {
        const { refusals, successes } = declared.get(operation) ?? { refusals: new Map(), successes: [] }
        expect(Object.keys(responses).toSorted(), operation).toStrictEqual(
          [...new Set([...successes, ...refusals.keys()])].toSorted()
        )
        for (const [status, errors] of refusals)
          expect(new Set(codesOf(responses[status]?.content)), `${operation} ${status}`).toStrictEqual(errors)
      }
    })

    it(`of the ${name} is listed as reviewed`, async ({ expect }) => {
      await expect(listing(document)).toMatchFileSnapshot(`./openapi.${name}.txt`)
    })

    it(`of the ${name} is valid OpenAPI 3.1`, async ({ expect }) => {
      const validator = new Validator()
      expect(await validator.validate({ ...document })).toStrictEqual({ valid: true })
      expect(validator.version).toBe("3.1")
    })

    it(`of the ${name} refers only to schemas that it has`, ({ expect }) => {
      const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/gu)]
      for (const [, schema] of referred) expect(document.components.schemas).toHaveProperty([String(schema)])
    })
  }
})
