/** The OpenAPI document of the control plane, its routes, and its schemas, for what is sent by the document. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import type { JsonSchema } from "effect"
import { OpenApi } from "effect/http-api"

const document = OpenApi.fromApi(ControlPlaneApi)

export interface Route {
  readonly path: string
  readonly method: string
  readonly operation: OpenApi.OpenAPISpecOperation
}

const methods = ["get", "post", "put", "patch", "delete"] as const

export const routes: ReadonlyArray<Route> = Object.entries(document.paths).flatMap(([path, operations]) =>
  methods.flatMap((method) => {
    const operation = operations[method]
    return operation === undefined ? [] : [{ path, method: method.toUpperCase(), operation }]
  })
)

/** The keywords of a schema that the document uses. */
export interface Described {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Described>
  readonly oneOf?: ReadonlyArray<Described>
  readonly allOf?: ReadonlyArray<Described>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly type?: string
  readonly pattern?: string
  readonly items?: Described
  readonly required?: ReadonlyArray<string>
  readonly properties?: Readonly<Record<string, Described>>
  readonly additionalProperties?: unknown
}

/** A schema of the document, or the one that it refers to; one that says nothing where there is none. */
export const described = (schema: object | undefined): Described => {
  const { $ref, ...own }: Described = schema ?? {}
  if ($ref === undefined) return own
  const named: JsonSchema.JsonSchema | undefined =
    document.components.schemas[$ref.replace("#/components/schemas/", "")]
  if (named === undefined) throw new Error(`the document has no ${$ref}`)
  return described(named)
}
