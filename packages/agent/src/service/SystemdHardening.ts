/**
 * Systemd restrictions for our network programs: privileges, devices and kernel settings. Writable and executable memory stays
 * allowed, because V8 compiles to it.
 */

/** A word of a command line: quotes and backslashes escaped, specifiers and variables literal. */
export const quoted = (text: string): string =>
  `"${text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", () => "$$")}"`

export interface Needs {
  /** For a privileged port; all other capabilities are dropped then too. */
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
