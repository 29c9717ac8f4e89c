/** The addresses of the portal for people who are signed in: pages, and the forms on them. */
import type { ExtraRoutes } from "../http/Routes.ts"

export const pages = [
  "/portal/home",
  "/portal/tunnels",
  "/portal/tunnels/:id",
  "/portal/tunnels/:id/delete",
  "/portal/tunnels/:id/grants",
  "/portal/tunnels/:id/install",
  "/portal/tunnels/:id/rotate-token",
  "/portal/tunnels/:id/uptime",
  "/portal/channels",
  "/portal/channels/:channel",
  "/portal/channels/:channel/claim",
  "/portal/claim",
  "/portal/agent-bridges",
  "/portal/fleet",
  "/portal/usage",
  "/portal/account"
] as const
export type PagePath = (typeof pages)[number]

export const forms = [
  "/portal/tunnels",
  "/portal/tunnels/:id/rename",
  "/portal/tunnels/:id/delete",
  "/portal/tunnels/:id/install",
  "/portal/tunnels/:id/require-login",
  "/portal/tunnels/:id/allow-any-login",
  "/portal/tunnels/:id/unproved-agents",
  "/portal/tunnels/:id/http-only",
  "/portal/tunnels/:id/login-allowlist",
  "/portal/tunnels/:id/login-allowlist/:email/remove",
  "/portal/tunnels/:id/access-requests/:email/dismiss",
  "/portal/tunnels/:id/grants",
  "/portal/tunnels/:id/grants/:grantee/delete",
  "/portal/tunnels/:id/reclaim-cert-slot",
  "/portal/tunnels/:id/verify-hostname",
  "/portal/tunnels/:id/rotate-token",
  "/portal/tunnels/:id/badge/enable",
  "/portal/tunnels/:id/badge/disable",
  "/portal/tunnels/:id/alert",
  "/portal/tunnels/:id/alert/test",
  "/portal/tunnels/:id/alert/delete",
  "/portal/tunnels/:id/access",
  "/portal/tunnels/:id/access/clear",
  "/portal/tunnels/:id/share-links",
  "/portal/tunnels/:id/share-links/:link_id/revoke",
  "/portal/tunnels/:id/agent-bridge",
  "/portal/tunnels/:id/agent-bridge/grant",
  "/portal/tunnels/:id/agent-bridge/call",
  "/portal/account/credits",
  "/portal/account/delete",
  "/portal/account/sessions/end-others",
  "/portal/account/sessions/:id/end",
  "/portal/account/service-accounts",
  "/portal/account/service-accounts/:client_id/rotate",
  "/portal/account/service-accounts/:client_id/delete",
  "/portal/channels",
  "/portal/rooms",
  "/portal/channels/:channel/rekey",
  "/portal/channels/:channel/deregister",
  "/portal/channels/:channel/members",
  "/portal/channels/:channel/members/:holder/remove",
  "/portal/channels/:channel/allowlist",
  "/portal/channels/:channel/allowlist/:email/remove",
  "/portal/channels/:channel/grants",
  "/portal/channels/:channel/claim-invites",
  "/portal/claim/confirm",
  "/portal/channels/:channel/claim-form"
] as const
export type FormPath = (typeof forms)[number]

export const addresses: ExtraRoutes = [
  ...pages.map((path) => ["GET", path] as const),
  ...forms.map((path) => ["POST", path] as const)
]
