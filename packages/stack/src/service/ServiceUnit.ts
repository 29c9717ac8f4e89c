/**
 * The unit of systemd for `catenet serve` and `catenet edge`, as text. The program runs as a user that exists as long as it runs,
 * writes to one folder, and gets its secrets from files that root alone can read: the variables by `EnvironmentFile`, what they
 * name by `LoadCredential`. Pure.
 */
import * as SystemdUnit from "@catenet/platform/SystemdUnit"
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
  return [...(handed.length === 0 ? [] : ["/usr/bin/env", ...handed]), ...command.map(SystemdUnit.quoted)].join(" ")
}

/** The text; ends with a newline. */
export const render = (unit: Unit): string => {
  const { config, plan, program } = unit
  const name = unitName(program)
  return SystemdUnit.render({
    description: what[program],
    start: start(unit),
    runs: [
      `EnvironmentFile=${config.replaceAll("%", "%%")}`,
      ...plan.credentials.map(([variable, path]) => `LoadCredential=${variable}:${path.replaceAll("%", "%%")}`),
      "DynamicUser=yes",
      `StateDirectory=${name}`,
      "StateDirectoryMode=0700",
      `WorkingDirectory=%S/${name}`,
      "UMask=0077"
    ],
    final: [2, 3],
    stopSeconds: plan.stopSeconds,
    may: [
      ...(plan.descriptors === undefined ? [] : [`LimitNOFILE=${plan.descriptors}`]),
      ...SystemdUnit.hardening(plan),
      // A user namespace of its own would take the right to the low port along.
      ...(plan.lowPort ? [] : ["PrivateUsers=yes"]),
      "ProtectSystem=strict",
      "ProtectHome=yes",
      "ProtectProc=invisible",
      "ProcSubset=pid",
      "RemoveIPC=yes"
    ]
  })
}
