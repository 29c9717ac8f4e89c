/** The addresses of the portal for people who are signed in: pages, and the forms on them. */

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
  "/portal/channels/:channel/grants",
  "/portal/claim",
  "/portal/agent-bridges",
  "/portal/topologies",
  "/portal/fleet",
  "/portal/usage",
  "/portal/notices",
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
  "/portal/tunnels/:id/options/:option",
  "/portal/tunnels/:id/login-allowlist",
  "/portal/tunnels/:id/login-allowlist/:email/remove",
  "/portal/tunnels/:id/access-requests/:email/dismiss",
  "/portal/tunnels/:id/grants",
  "/portal/tunnels/:id/grants/:grantee/delete",
  "/portal/tunnels/:id/reclaim-cert-slot",
  "/portal/tunnels/:id/cert-claim-opt-out",
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
  "/portal/tunnels/:id/agent-bridge/manifest/install",
  "/portal/account/credits",
  "/portal/account/notice-mail",
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
  "/portal/channels/:channel/join-links",
  "/portal/topologies",
  "/portal/topologies/:id/connect",
  "/portal/topologies/:id/remove",
  "/portal/topologies/:id/note",
  "/portal/topologies/:id/import",
  "/portal/topologies/:id/add",
  "/portal/topologies/:id/unassign",
  "/portal/topologies/:id/label",
  "/portal/topologies/:id/mode",
  "/portal/topologies/:id/suggest",
  "/portal/topologies/:id/apply",
  "/portal/topologies/:id/share",
  "/portal/topologies/:id/unshare",
  "/portal/topologies/:id/bind",
  "/portal/topologies/:id/unbind",
  "/portal/topologies/:id/delete",
  "/portal/claim/confirm",
  "/portal/channels/:channel/claim-form"
] as const
export type FormPath = (typeof forms)[number]

/** Forms that change nothing: one that comes again is worked out again. */
export const questions: ReadonlySet<FormPath> = new Set(["/portal/topologies/:id/suggest"])

/** For those who run the platform; for everybody else there is nothing here. */
export const operatorPages = ["/operators"] as const
export type OperatorPagePath = (typeof operatorPages)[number]
export const operatorForms = ["/operators/orders/:id/resend", "/operators/limits"] as const
export type OperatorFormPath = (typeof operatorForms)[number]
