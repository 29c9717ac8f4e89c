/**
 * The unit of systemd for `catenet serve` and `catenet edge`, as text. The program runs as a user that exists as long as it runs,
 * writes to one folder, and gets its secrets from files that root alone can read: the variables by `EnvironmentFile`, what they
 * name by `LoadCredential`. Pure.
 */
import { hardening, quoted } from "@catenet/agent/internal/service/SystemdHardening"
import { type Plan, type Program, unitName } from "./ServicePlan.ts"

export interface Unit {
  readonly program: Program
  /** How the program is started, with absolute paths. */
  readonly command: ReadonlyArray<string>
  /** The file of its variables. */
  readonly config: string
  readonly plan: Plan
}

const what: Readonly<Record<Program, string>> = { serve: "Catenet control plane", edge: "Catenet edge" }

const start = ({ command, plan }: Unit) => {
  // A variable of the file wins over one of the unit, so those that name files are set for the program by env.
  const handed = plan.credentials.map(([name]) => `"${name}=\${CREDENTIALS_DIRECTORY}/${name}"`)
  return [...(handed.length === 0 ? [] : ["/usr/bin/env", ...handed]), ...command.map(quoted)].join(" ")
}

/** The text; ends with a newline. */
export const render = (unit: Unit): string => {
  const { config, plan, program } = unit
  const name = unitName(program)
  const lines = [
    "[Unit]",
    `Description=${what[program]}`,
    "Wants=network-online.target",
    "After=network-online.target",
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    `ExecStart=${start(unit)}`,
    `EnvironmentFile=${config.replaceAll("%", "%%")}`,
    ...plan.credentials.map(([variable, path]) => `LoadCredential=${variable}:${path.replaceAll("%", "%%")}`),
    "DynamicUser=yes",
    `StateDirectory=${name}`,
    "StateDirectoryMode=0700",
    `WorkingDirectory=%S/${name}`,
    "UMask=0077",
    "Restart=always",
    "RestartSec=5",
    "RestartPreventExitStatus=2 3",
    `TimeoutStopSec=${plan.stopSeconds}`,
    ...(plan.descriptors === undefined ? [] : [`LimitNOFILE=${plan.descriptors}`]),
    ...hardening(plan),
    // A user namespace of its own would take the right to the low port along.
    ...(plan.lowPort ? [] : ["PrivateUsers=yes"]),
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "ProtectProc=invisible",
    "ProcSubset=pid",
    "RemoveIPC=yes",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
    ""
  ]
  return lines.join("\n")
}
