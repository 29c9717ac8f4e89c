import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { describeEndpoints } from "@catenet/domain/api/DescribedRoutes"
import { endpointSummaries } from "@catenet/domain/api/EndpointSummaries"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"

describe("endpoint summaries", () => {
  const { paths, tags } = OpenApi.fromApi(ControlPlaneApi)
  const operations = Object.values(paths).flatMap(
    (methods) => Object.values(methods) as ReadonlyArray<OpenApi.OpenAPISpecOperation>
  )

  it("exist for every route, and for no unknown one", () => {
    const said = Object.entries(endpointSummaries).flatMap(([group, { routes }]) =>
      Object.keys(routes).map((endpoint) => `${group}.${endpoint}`)
    )
    assert.sameMembers(
      said,
      operations.map(({ operationId }) => operationId)
    )
    for (const { operationId, summary } of operations) assert.match(summary ?? "", /^[A-Z].*\.$/u, operationId)
    for (const { description, name } of tags ?? [])
      assert.strictEqual(description, endpointSummaries[name]?.about, name)
    assert.sameMembers(
      (tags ?? []).map(({ name }) => name),
      Object.keys(endpointSummaries)
    )
  })

  it("stand with a description of every operation, and a title at each of its refusals", () => {
    for (const { description, operationId, responses } of operations) {
      assert.match(description ?? "", /^[A-Z].{20,}\.$/su, operationId)
      for (const [status, response] of Object.entries(responses))
        if (Number(status) >= 400) assert.match(response.description, /^[A-Z`]/u, `${operationId} ${status}`)
    }
  })

  it("are left out where a document has no routes of these names", () => {
    const spec = { paths: { "/a": { get: { operationId: "none.such" } }, "/b": 7 }, tags: [{ name: "none" }, 7] }
    assert.deepStrictEqual(describeEndpoints(spec), spec)
    assert.deepStrictEqual(describeEndpoints({}), { paths: {}, tags: undefined })
  })
})
