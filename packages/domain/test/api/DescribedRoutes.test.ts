import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { describeEndpoints } from "@catenet/domain/api/DescribedRoutes"
import { endpointSummaries } from "@catenet/domain/api/EndpointSummaries"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"

describe("what routes are for", () => {
  const { paths, tags } = OpenApi.fromApi(ControlPlaneApi)
  const operations = Object.values(paths).flatMap(
    (methods) => Object.values(methods) as ReadonlyArray<OpenApi.OpenAPISpecOperation>
  )

  it("is said of every one, and of none that is not there", () => {
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

  it("is not said of what has no name here", () => {
    const spec = { paths: { "/a": { get: { operationId: "none.such" } }, "/b": 7 }, tags: [{ name: "none" }, 7] }
    assert.deepStrictEqual(describeEndpoints(spec), spec)
    assert.deepStrictEqual(describeEndpoints({}), { paths: {}, tags: undefined })
  })
})
