/** The OpenAPI document of the control plane as JSON, and its routes, for what is sent by the document. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { OpenApi } from "effect/http-api"

export type Json = { readonly [key: string]: any }

export const document = OpenApi.fromApi(ControlPlaneApi) as unknown as Json

export interface Route {
  readonly path: string
  readonly method: string
  readonly operation: Json
}

export const routes: ReadonlyArray<Route> = Object.entries(document["paths"] as Json).flatMap(([path, methods]) =>
  Object.entries(methods as Json).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    operation: operation as Json
  }))
)
