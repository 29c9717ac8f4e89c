/**
 * What a unit of systemd takes from any program of ours that talks to the network: rights, devices, and what it could change in
 * the kernel. Memory that is written and then executed stays allowed: V8 compiles to such memory.
 */

/** A word of a command line: quotes and backslashes escaped, specifiers and variables taken literally. */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", () => "$$")}"`

export interface Needs {
  /** Listens on a port that is kept for root; nothing else of root's rights is left then either. */
  readonly lowPort: boolean
}

export const hardening = ({ lowPort }: Needs): ReadonlyArray<string> => [
  "NoNewPrivileges=yes",
  `CapabilityBoundingSet=${lowPort ? "CAP_NET_BIND_SERVICE" : ""}`,
  `AmbientCapabilities=${lowPort ? "CAP_NET_BIND_SERVICE" : ""}`,
  "PrivateTmp=yes",
  "PrivateDevices=yes",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "LockPersonality=yes",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallFilter=~@privileged",
  "SystemCallErrorNumber=EPERM"
]
