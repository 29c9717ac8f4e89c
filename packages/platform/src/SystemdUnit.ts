/**
 * Units of systemd for programs that talk to the network, as text. systemd starts them again whenever they end, but not after an exit
 * code that asks for a change by a person. Pure.
 */

/** A word of a command line: quotes and backslashes escaped, specifiers and variables taken literally. */
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

/**
 * Restrictions of privileges, devices and kernel settings. Writable and executable memory stays allowed, because V8 compiles to
 * it.
 */
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

export interface Unit {
  /** What runs, for people. */
  readonly description: string
  /** Where it is described, as a URL. */
  readonly documentation?: string
  /** The command line, its words quoted. */
  readonly start: string
  /** Settings about where and as whom the program runs. */
  readonly runs: ReadonlyArray<string>
  /** Exit codes after which the program is not started again. */
  readonly final: ReadonlyArray<number>
  /** Seconds after SIGTERM before the program is killed. */
  readonly stopSeconds: number
  /** Settings about what the program may do. */
  readonly may: ReadonlyArray<string>
}

/** The text; ends with a newline. */
export const render = ({ description, documentation, final, may, runs, start, stopSeconds }: Unit): string =>
  [
    "[Unit]",
    `Description=${description}`,
    ...(documentation === undefined ? [] : [`Documentation=${documentation}`]),
    "Wants=network-online.target",
    "After=network-online.target",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    `ExecStart=${start}`,
    ...runs,
    "Restart=always",
    "RestartSec=5",
    `RestartPreventExitStatus=${final.join(" ")}`,
    `TimeoutStopSec=${stopSeconds}`,
    ...may,
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    ""
  ].join("\n")
