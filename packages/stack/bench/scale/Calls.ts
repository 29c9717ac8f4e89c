/** Every list and every look-up, as one account, one edge, one operator or one visitor asks it. */
import { accounts } from "../api/Calls.ts"
import { request } from "../api/Pump.ts"
import { adminToken } from "../api/Surroundings.ts"
import { cookieOf, numbered } from "./Fill.ts"

export interface Call {
  readonly name: string
  /** Whether the answer tells of everybody, so that it differs from one database to the other. */
  readonly ofAll?: boolean
  readonly text: (account: number, tokens: ReadonlyArray<string>) => string
}

type As = "bearer" | "session" | "admin" | "public"

const credentials = (as: As, account: number, tokens: ReadonlyArray<string>): Readonly<Record<string, string>> => {
  switch (as) {
    case "bearer":
      return { authorization: `Bearer ${tokens[account]}` }
    case "session":
      return { cookie: `__Host-ct_portal_session=${cookieOf(account)}` }
    case "admin":
      return { "x-ct-admin-token": adminToken }
    case "public":
      return {}
  }
}

/** A row of the account in the middle of its ten. */
const one = (account: number) => account + accounts * 4
const id = (account: number) => numbered("a", one(account), 32)
const key = (account: number) => numbered("a", one(account), 64)
const member = (account: number) => numbered("a", one(account) * 10, 64)
const host = (account: number) => `a${one(account)}.example.test`

/** Fills in the ids of the account; its credits have the id of its first row. */
const pathOf = (path: string, account: number) =>
  path
    .replaceAll(":id", id(account))
    .replaceAll(":key", key(account))
    .replaceAll(":host", host(account))
    .replaceAll(":first", numbered("a", account, 64))
    .replaceAll(":account", String(account))
    .replaceAll(":number", String(one(account)))

const get = (as: As, path: string, name = `GET ${path}`): Call => ({
  name,
  text: (account, tokens) => request("GET", pathOf(path, account), credentials(as, account, tokens))
})

export const calls: ReadonlyArray<Call> = [
  get("bearer", "/me/tunnels"),
  get("bearer", "/me/tunnels?limit=2"),
  get("bearer", "/me/tunnels/:id"),
  get("bearer", "/me/tunnels/:id/grants"),
  get("bearer", "/me/tunnels/:id/login-allowlist"),
  get("bearer", "/me/tunnels/:id/access-requests"),
  get("bearer", "/me/tunnels/:id/share-links"),
  get("bearer", "/me/tunnels/:id/badge"),
  get("bearer", "/me/tunnels/:id/alert"),
  get("bearer", "/me/tunnels/:id/alert/deliveries"),
  get("bearer", "/me/channels"),
  get("bearer", "/me/channels?limit=2"),
  get("bearer", "/me/channels/:key"),
  get("bearer", "/me/channels/:key/members"),
  get("bearer", "/me/channels/:key/members?limit=2"),
  get("bearer", "/me/channels/:key/grants"),
  get("bearer", "/me/channels/:key/allowlist"),
  get("bearer", "/me/channels/:key/claim-invites"),
  get("bearer", "/me/rooms"),
  get("bearer", "/me/rooms?limit=2"),
  get("bearer", "/me/topologies"),
  get("bearer", "/me/topologies?limit=2"),
  get("bearer", "/me/topologies/:id"),
  get("bearer", "/me/topologies/:id/operator"),
  get("bearer", "/me/topologies/:id/share"),
  get("session", "/me/topologies/shared"),
  get("public", "/net/:id/topology"),
  get("bearer", "/me/account"),
  get("bearer", "/me/account/credits"),
  get("bearer", "/me/issue"),
  get("bearer", "/me/service-accounts"),
  get("bearer", "/me/service-accounts/sa-:id"),
  get("bearer", "/me/audit-log?limit=20"),
  get("bearer", "/me/pipelines"),
  get("session", "/portal/claims"),
  get("session", "/portal/channels/:key/grant"),
  get("admin", "/accounts/:first", "GET /accounts/:account"),
  get("admin", "/payment/intent/:first", "GET /payment/intent/:payment"),
  get("admin", "/admin/accounts/subject-:account"),
  { ...get("admin", "/admin/audit-log?limit=20"), ofAll: true },
  get("admin", "/admin/audit-log?limit=20&actor=subject-:account"),
  get("admin", "/admin/audit-log?limit=20&target=a-target-:number"),
  get("admin", "/internal/edges/lookup?host=:host"),
  get("admin", "/internal/edges/lookup?token=:key"),
  get("admin", "/internal/edges/rehydrate/own"),
  get("admin", "/internal/revoked-tokens"),
  {
    name: "POST /internal/channel/authorize",
    text: (account, tokens) => {
      const body = { channel: key(account), holder: member(account) }
      return request("POST", "/internal/channel/authorize", credentials("admin", account, tokens), body)
    }
  },
  get("public", "/agent/acme-admission/:key/:host"),
  get("public", "/registry/agents?role=a-role-:account&limit=10"),
  get("public", "/registry/agents/:key"),
  get("public", "/registry/pipelines?limit=10"),
  get("public", "/registry/pipelines/p:account"),
  get("public", "/registry/resolve/:key"),
  { ...get("public", "/status"), ofAll: true }
]
