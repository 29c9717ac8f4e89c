/** The addresses to which forms of the portal are posted. */
import { Effect } from "effect"
import { HttpRouter } from "effect/http"
import type { ExtraRoutes } from "../http/Routes.ts"
import * as AccountForms from "./AccountForms.ts"
import { serve, type Submit } from "./Forms.ts"
import * as TunnelForms from "./TunnelForms.ts"

const paths = [
  "/portal/tunnels/:id/badge/enable",
  "/portal/tunnels/:id/badge/disable",
  "/portal/tunnels/:id/alert",
  "/portal/tunnels/:id/alert/test",
  "/portal/tunnels/:id/alert/delete",
  "/portal/tunnels/:id/access",
  "/portal/tunnels/:id/access/clear",
  "/portal/tunnels/:id/share-links",
  "/portal/tunnels/:id/share-links/:link_id/revoke",
  "/portal/tunnels/:id/agent-bridge/grant",
  "/portal/tunnels/:id/agent-bridge/call",
  "/portal/account/credits",
  "/portal/claim/confirm",
  "/portal/channels/:channel/claim-form"
] as const

export const addresses: ExtraRoutes = paths.map((path) => ["POST", path] as const)

export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const forms: Readonly<Record<(typeof paths)[number], Submit>> = {
      ...(yield* TunnelForms.make),
      ...(yield* AccountForms.make)
    }
    const handler = yield* serve
    for (const path of paths) yield* router.add("POST", path, handler(forms[path]))
  })
)
