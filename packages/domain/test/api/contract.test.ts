/** Every JSON route of the service contract: how its caller is authenticated, and the statuses that the contract names. */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"

type Auth = "none" | "admin" | "bearer" | "session" | "bearer|session"

const routes: ReadonlyArray<readonly [method: string, path: string, auth: Auth, statuses: ReadonlyArray<number>]> = [
  ["get", "/status", "none", [200]],
  ["get", "/readyz", "none", [200, 503]],
  ["get", "/network-info", "none", [200]],
  ["get", "/pki/ca", "none", [200, 503]],
  ["get", "/agent/acme-admission/{routing_token}/{hostname}", "none", [200, 403, 404]],
  ["post", "/agent/acme-issuance-complete/{routing_token}/{hostname}", "none", [200, 403]],
  ["post", "/enroll/issue", "admin", [200, 401]],
  ["post", "/enroll/redeem", "none", [200, 400, 403, 404, 409]],
  ["post", "/bootstrap/redeem", "none", [200, 400, 404, 409, 410]],
  ["post", "/registry/authorize-host/{routing_token}/{hostname}", "admin", [200, 400, 401, 409, 502]],
  ["post", "/admin/provision-tunnel", "admin", [200, 400, 401, 404, 409]],
  ["post", "/accounts/open", "admin", [200, 401, 404]],
  ["post", "/payment/intent", "admin", [200, 400, 401, 404]],
  ["post", "/billing/issue", "admin", [200, 400, 401, 402, 404, 409]],
  ["post", "/registry/pipelines", "admin", [200, 401, 409]],
  ["post", "/registry/agents", "admin", [200, 400, 401]],
  ["post", "/payment/webhook", "none", [200, 400, 401, 404]],
  ["post", "/me/pipelines", "bearer", [200, 401, 403, 404, 422]],
  ["get", "/registry/pipelines", "none", [200]],
  ["get", "/registry/pipelines/{id}", "none", [200, 404]],
  ["get", "/registry/agents", "none", [200]],
  ["post", "/me/service-accounts", "bearer", [200, 400, 401, 404, 502, 503]],
  ["get", "/me/service-accounts", "bearer", [200, 401, 404]],
  ["post", "/me/service-accounts/{client_id}/rotate", "bearer", [200, 401, 404]],
  ["delete", "/me/service-accounts/{client_id}", "bearer", [204, 401, 404]],
  ["post", "/me/channels", "bearer", [200, 400, 401, 403, 404, 409]],
  ["get", "/me/channels", "bearer", [200, 401, 404]],
  ["delete", "/me/channels/{channel}", "bearer", [200, 401, 403, 404]],
  ["post", "/me/channels/{channel}/grants/{holder}", "bearer", [200, 400, 401, 403, 404]],
  ["post", "/me/channels/{channel}/members", "bearer", [200, 400, 401, 403, 404]],
  ["get", "/me/channels/{channel}/members", "bearer", [200, 401, 403, 404]],
  ["post", "/me/channels/{channel}/members/{holder}/remove", "bearer", [200, 401, 403, 404]],
  ["post", "/me/rooms", "bearer", [200, 400, 401, 404, 409]],
  ["post", "/me/channels/{channel}/allowlist", "bearer", [200, 400, 401, 403, 404]],
  ["get", "/me/channels/{channel}/allowlist", "bearer", [200, 401, 403, 404]],
  ["post", "/me/channels/{channel}/allowlist/{email}/remove", "bearer", [200, 401, 403, 404]],
  ["post", "/portal/channels/{channel}/claim", "session", [200, 400, 401, 403, 409]],
  ["get", "/portal/channels/{channel}/grant", "session", [200, 400, 401, 404]],
  ["post", "/me/channels/{channel}/claim-invites", "bearer", [200, 400, 401, 404]],
  ["post", "/channel/invite/challenge", "none", [200]],
  ["post", "/channel/invite/redeem", "none", [200, 400, 403, 404, 409, 410]],
  ["get", "/badge/{file}", "none", [200, 404]],
  ["get", "/portal/tunnels/{id}/receipts.jsonl", "session", [200, 401, 404, 502]],
  ["get", "/portal/usage.csv", "session", [200, 401]],
  ["post", "/me/topologies", "bearer|session", [200, 401, 404]],
  ["get", "/me/topologies", "bearer|session", [200, 401, 404]],
  ["get", "/me/topologies/shared", "bearer|session", [200, 401, 404]],
  ["get", "/me/topologies/{id}", "bearer|session", [200, 401, 404]],
  ["post", "/me/topologies/{id}/agents", "bearer|session", [200, 400, 401, 403, 404, 409]],
  ["post", "/me/topologies/{id}/edges", "bearer|session", [200, 400, 401, 404, 409]],
  ["delete", "/me/topologies/{id}/edges", "bearer|session", [200, 400, 401, 404]],
  ["put", "/me/topologies/{id}/edges/channel", "bearer|session", [200, 400, 401, 403, 404]],
  ["put", "/me/topologies/{id}/mode", "bearer|session", [200, 400, 401, 404]],
  ["post", "/me/topologies/{id}/suggest", "bearer|session", [200, 400, 401, 404, 409]],
  ["put", "/me/topologies/{id}/operator", "bearer|session", [200, 400, 401, 404]],
  ["post", "/me/topologies/{id}/share", "bearer|session", [200, 401, 404]],
  ["post", "/me/topologies/{id}/share/{email}/remove", "bearer|session", [200, 401, 404]],
  ["post", "/me/issue", "bearer", [200, 400, 401, 402, 404, 409, 429]],
  ["post", "/internal/channel/authorize", "admin", [200, 400, 401, 404]],
  ["post", "/internal/edges/heartbeat", "admin", [200, 400, 401, 403]],
  ["get", "/internal/edges/lookup", "admin", [200, 400, 401, 404]],
  ["get", "/internal/edges/rehydrate/{edge_id}", "admin", [200, 401]],
  ["get", "/internal/revoked-tokens", "admin", [200, 401]],
  ["post", "/internal/edges/{id}/rebind", "admin", [200, 401, 404]]
]

const { paths } = OpenApi.fromApi(ControlPlaneApi)

describe("the service contract", () => {
  for (const [method, path, auth, statuses] of routes) {
    it(`has ${method.toUpperCase()} ${path}`, () => {
      const operation = (paths[path] as Readonly<Record<string, OpenApi.OpenAPISpecOperation>> | undefined)?.[method]
      assert.isDefined(operation)
      const schemes = (operation?.security ?? []).flatMap((requirement) => Object.keys(requirement))
      assert.strictEqual(schemes.sort().join("|") || "none", auth)
      for (const status of statuses) assert.property(operation?.responses, String(status))
    })
  }
})
