import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"

describe("endpoint summaries", () => {
  const { paths, tags } = OpenApi.fromApi(ControlPlaneApi)
  const operations = Object.values(paths).flatMap(
    (methods) => Object.values(methods) as ReadonlyArray<OpenApi.OpenAPISpecOperation>
  )

  it("are a sentence at every route, and a heading at every group", () => {
    for (const { operationId, summary } of operations) assert.match(summary ?? "", /^[A-Z].*\.$/u, operationId)
    for (const { description, name } of tags ?? []) assert.match(description ?? "", /^[A-Z].*[^.]$/u, name)
  })

  it("stand with a description of every operation, and a title at each of its refusals", () => {
    for (const { description, operationId, responses } of operations) {
      assert.match(description ?? "", /^[A-Z].{20,}\.$/su, operationId)
      for (const [status, response] of Object.entries(responses))
        if (Number(status) >= 400) assert.match(response.description, /^[A-Z`]/u, `${operationId} ${status}`)
    }
  })
})
