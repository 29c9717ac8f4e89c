import { AgentLocalApi } from "@catenet/domain/api/AgentLocalApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { textOf } from "@catenet/domain/api/DescribedSchemas"
import { EdgeAdminApi } from "@catenet/domain/api/EdgeAdminApi"
import { describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { OpenApi } from "effect/http-api"

const documents = {
  "openapi.json": OpenApi.fromApi(ControlPlaneApi),
  "openapi.edge.json": OpenApi.fromApi(EdgeAdminApi),
  "openapi.agent.json": OpenApi.fromApi(AgentLocalApi)
}

describe("the OpenAPI documents", () => {
  for (const [file, document] of Object.entries(documents)) {
    it(`${file} is as published`, async ({ expect }) => {
      await expect(textOf(document, 2) + "\n").toMatchFileSnapshot(`../${file}`)
    })

    it(`${file} is valid OpenAPI 3.1`, async ({ expect }) => {
      const validator = new Validator()
      expect(await validator.validate(JSON.parse(JSON.stringify(document)))).toStrictEqual({ valid: true })
      expect(validator.version).toBe("3.1")
    })

    it(`${file} refers only to schemas that it has, and names every operation once`, ({ expect }) => {
      const text = JSON.stringify(document)
      const referred = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/gu)].map(([, name]) => name)
      for (const name of referred) expect(document.components.schemas).toHaveProperty([String(name)])
      const operations = [...text.matchAll(/"operationId":"([^"]+)"/gu)].map(([, name]) => name)
      expect(new Set(operations).size).toBe(operations.length)
    })
  }
})
