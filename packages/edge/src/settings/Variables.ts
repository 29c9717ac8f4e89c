/** Every variable that the edge reads, with its meaning. Help, the guide and the readers' types are made from this. */

export const variables = {
  CT_FRONT_DOOR: "host:port where visitors come in, default none",
  CT_EDGE_LISTEN: "host:port where agents register, default 0.0.0.0:4433",
  CT_EDGE_HTTP_REDIRECT: "host:port that sends plain http to https, default none",
  CT_EDGE_CERT_OUT:
    "file where the root certificate of the mesh port is published, required; its key is kept beside it",
  CT_EDGE_CP_URL: "base URL of the control plane, whose tunnels are served; without it there are none after a restart",
  CT_EDGE_ADMIN_TOKEN: "64 hex digits, the same as CT_CP_EDGE_ADMIN_TOKEN of the control plane",
  CT_EDGE_ADMIN_LISTEN: "host:port of the admin interface, default none",
  CT_EDGE_ADMIN_URL:
    "base URL at which the control plane reaches the admin interface, where several edges are; sent with heartbeats",
  CT_EDGE_HEARTBEAT_SECS: "how often the control plane hears that this edge lives, 1 to 60, default 30",
  CT_EDGE_METRICS_LISTEN: "host:port of /metrics and /healthz, default none",
  CT_EDGE_ID: "name of this edge among several, default primary",
  CT_EDGE_PUBLIC_ADDR: "host:port where other edges and agents reach this one, default unknown",
  CT_EDGE_WILDCARD_CERT: "certificate chain for hosts that have none of their own, PEM",
  CT_EDGE_WILDCARD_KEY: "its private key, PEM",
  CT_EDGE_PORTAL_HOST: "host name of the portal, answered by the control plane",
  CT_CP_PROXY_ADDR: "host:port of the control plane for that name",
  CT_EDGE_PORTAL_CERT: "certificate chain of the portal, PEM; without it TLS is passed on unopened",
  CT_EDGE_PORTAL_KEY: "its private key, PEM",
  CT_EDGE_PORTAL_PROXY_PROTOCOL:
    "1 to tell the control plane who the visitor is, by PROXY v2; it wants this edge in CT_CP_TRUSTED_PROXIES",
  CT_EDGE_AUTH_HOST: "host name of the identity provider",
  CT_EDGE_AUTH_ADDR: "host:port of the identity provider",
  CT_EDGE_AUTH_CERT: "its certificate chain, PEM",
  CT_EDGE_AUTH_KEY: "its private key, PEM",
  CT_EDGE_AUTH_PROXY_PROTOCOL: "1 to tell the identity provider who the visitor is, by PROXY v2",
  CT_EDGE_MASQUE_HOST: "host name of a MASQUE proxy",
  CT_EDGE_MASQUE_ADDR: "host:port of the MASQUE proxy",
  CT_EDGE_MASQUE_CERT: "its certificate chain, PEM",
  CT_EDGE_MASQUE_KEY: "its private key, PEM",
  CT_EDGE_ADMIN_UI_HOST: "host name of an operators' page",
  CT_EDGE_ADMIN_UI_ADDR: "host:port of the operators' page",
  CT_EDGE_ADMIN_UI_CERT: "its certificate chain, PEM",
  CT_EDGE_ADMIN_UI_KEY: "its private key, PEM",
  CT_EDGE_BROWSER_LISTEN: "host:port where only visitors of tunnels come in, default none",
  CT_EDGE_PROCESSES: "processes that share the public listeners, 1 to 64, default 1",
  CT_EDGE_REQUIRE_AGENT_PROOF:
    "1 to refuse agents of the byte protocol, which proves no key, for tunnels with enrolled agents; default 0",
  CT_EDGE_REQUIRE_HOST_AUTH:
    "0 to let agents serve hosts that the control plane has not given them; on where visitors come in",
  CT_EDGE_MAX_CONNECTIONS: "connections at once, default 8192; 0, off, false and none lift this cap and the next four",
  CT_EDGE_MAX_CONNECTIONS_PER_IP: "connections at once from one address, or one /64 of IPv6, default 2048",
  CT_EDGE_MAX_BROWSER_TUNNEL_CONNECTIONS: "connections of visitors at once, default 4096",
  CT_EDGE_MAX_VISITORS_PER_TUNNEL: "connections of visitors at one tunnel at once, default 2048",
  CT_EDGE_MAX_TCP_AGENT_CONNECTIONS: "connections of agents at once, default 4096",
  CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "how long a visitor waits for a parked agent, default 3000",
  CT_EDGE_REQUEST_HEAD_SECS: "seconds in which the head of a visitor's request must be complete, 1 to 600, default 15",
  CT_EDGE_RELAY_IDLE_SECS: "seconds after which a silent relay is cut, default 3600; 0 for never",
  CT_EDGE_CUT_AT_WINDOW_CLOSE: "0 to let running connections go on when an access window closes",
  CT_EDGE_SHUTDOWN_GRACE_SECS: "seconds in which connections may finish after SIGTERM, default 30",
  CT_EDGE_POW_DIFFICULTY: "zero bits of the work that mesh clients do, 0 to 32, default 16",
  CT_EDGE_RENDEZVOUS_MAX_PER_MIN: "mesh clients let in a minute for one tunnel, default 600",
  CT_EDGE_MESH_RELAY_ENABLED: "1 to bring visitors to the edge where their tunnel is registered",
  CT_EDGE_MESH_RELAY_PRIVATE: "1 when the edges reach each other at private addresses",
  CT_EDGE_TUNNEL_HISTORY: "0 to keep no sessions and no uptime",
  CT_EDGE_TUNNEL_HISTORY_PATH: "SQLite file of both, default beside the published root",
  CT_EDGE_TUNNEL_HISTORY_RETENTION_SECS: "how long they are kept, default 7776000 (90 days)",
  CT_EDGE_RECEIPTS: "1 to write signed receipts of every session",
  CT_EDGE_AUDIT_LOG_PATH: "SQLite file that tells who connected to what and when, default none",
  CT_EDGE_AUDIT_LOG_RETENTION_SECS: "how long it remembers, default 604800 (7 days)",
  CT_EDGE_TRACE: "1 to log everything"
} as const

export type Name = keyof typeof variables

const isName = (name: string): name is Name => Object.hasOwn(variables, name)

export const names: ReadonlyArray<Name> = Object.keys(variables).filter(isName)

const widest = Math.max(...Object.keys(variables).map((name) => name.length))

/** The variables as lines for `--help`. */
export const reference = Object.entries(variables)
  .map(([name, meaning]) => `  ${name.padEnd(widest)}  ${meaning}`)
  .join("\n")
