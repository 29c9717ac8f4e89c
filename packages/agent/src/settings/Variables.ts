/**
 * Every variable that the tunnel part of the agent reads, with the sentence that `--help` and `init` show for it. A variable that
 * is not in this list is not read.
 */
export const variables = {
  CT_AGENT_CP_URL: "base URL of the control plane",
  CT_AGENT_JOIN_TOKEN: "single-use join token of the first start (64 hex characters)",
  CT_AGENT_TOKEN: "routing token of the tunnel (64 hex characters)",
  CT_BOOTSTRAP: "short-lived bootstrap token, redeemed once for the two tokens above",
  CT_AGENT_HOSTNAME: "public host name that the tunnel serves",
  CT_AGENT_ORIGIN: "host:port of the local service, default 127.0.0.1:8080",
  CT_AGENT_ORIGIN_PROTO: "tcp (default) or udp",
  CT_AGENT_ORIGIN_TLS: "passthrough (default), or terminate to hand plain text to the origin",
  CT_AGENT_ORIGIN_PROXY_PROTOCOL: "v2 to begin each origin connection with a PROXY protocol header",
  CT_AGENT_TLS_CERT: "certificate chain for terminate, PEM, default fullchain.pem in CT_ACME_CERT_OUT_DIR",
  CT_AGENT_TLS_KEY: "private key for terminate, PEM, default privkey.pem in CT_ACME_CERT_OUT_DIR",
  CT_AGENT_MODE: "browser, or unset for the mesh plane (Noise)",
  CT_AGENT_EDGE: "host:port of the edge, default the control plane's host and its mesh port",
  CT_AGENT_EDGE_CERT_URL: "base URL that serves the edge's root certificate at /pki/ca",
  CT_AGENT_EDGE_CERT: "where the edge's root certificate is cached, default /shared/edge-cert.der",
  CT_AGENT_EDGE_CERT_WAIT_SECS: "how long to wait for that file, default for ever",
  CT_AGENT_EDGE_CERT_LOG_INTERVAL_SECS: "how often to say that it is missing, default 5",
  CT_AGENT_ID: "stable identity of this agent, default generated once and kept",
  CT_AGENT_STATE_DIR: "folder of the agent's identity and events, default ./.ct-agent-state",
  CT_AGENT_CAPABILITY_OUT: "where the capability of a mesh tunnel is written, default /shared/capability.bin",
  CT_AGENT_ORIGIN_KEY: "file of the origin's Noise key, default a new key for each process",
  CT_AGENT_ORIGIN_KEY_DIR: "folder of retired origin keys that are still served",
  CT_AGENT_ONBOARD_TIMEOUT_SECS: "bound of the onboarding call, default none",
  CT_AGENT_RECONNECT_MAX_ATTEMPTS: "attempts before giving up, default and 0: no limit",
  CT_AGENT_RECONNECT_BASE_MS: "first pause between attempts, default 500, at least 100",
  CT_AGENT_RECONNECT_MAX_MS: "longest pause between attempts, default 30000",
  CT_AGENT_FALLBACK_443: "anything but empty, 0 and false: also try port 443 of the edge",
  CT_AGENT_REGISTER_TCP_ONLY: "anything but empty, 0 and false: never multiplex, one connection for each client",
  CT_AGENT_FRAMED_FALLBACK:
    "anything but empty, 0 and false: keep quiet streams alive where the edge does not multiplex",
  CT_AGENT_TCP_FALLBACK_POOL_SIZE: "parked connections when the edge does not multiplex, default 6",
  CT_AGENT_TCP_FALLBACK_MAX_SERVING: "connections served beside the parked ones, default 32",
  CT_AGENT_DIRECT_ADVERTISE: "IP address where mesh clients can reach this machine without the edge, default none",
  CT_AGENT_DIRECT_PORT: "TCP port of that direct path, default any free one",
  CT_AGENT_METRICS_LISTEN: "host:port of /metrics, /status, /healthz and /events, default none",
  CT_AGENT_LOG_FORMAT: "json for logs as JSON lines, as --json does (environment only)",
  CT_CHANNEL_HOLDER_KEY: "private holder key of topology-proof (64 hex characters)",
  CT_TOPOLOGY_ID: "topology that topology-proof signs for",
  CT_TOPOLOGY_ACCOUNT: "account that topology-proof signs for: its subject, which /me/account names",
  CT_ACME_CERT_OUT_DIR: "folder of fullchain.pem and privkey.pem"
} as const

export type Variable = keyof typeof variables

/** The raw text of every variable that is set; a variable that is set to nothing is the empty string. */
export type Raw = { readonly [name in Variable]?: string | undefined }
