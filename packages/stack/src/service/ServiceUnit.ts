/**
 * The unit of systemd for `catenet serve` and `catenet edge`, as text. The program runs as a user that exists as long as it runs,
 * writes to one folder, and gets its secrets from files that root alone can read: the variables by `EnvironmentFile`, what they
 * name by `LoadCredential`. Pure.
 */
import * as SystemdUnit from "@catenet/platform/SystemdUnit"
import { basename } from "node:path"
import { type Plan, type Program, unitName } from "./ServicePlan.ts"

export interface Unit {
  readonly program: Program
  /** How the program is started, with absolute paths. */
  readonly command: ReadonlyArray<string>
  /** The file of its variables. */
  readonly config: string
  readonly plan: Plan
}

/** Edge, control plane, sign-in and database one after the other. */
const platformStopSeconds = 120
const platformDescriptors = 65_536

const what: Readonly<Record<Program, string>> = { serve: "Catenet control plane", edge: "Catenet edge" }

const start = ({ command, plan }: Unit) => {
  // A variable of the file wins over one of the unit, so those that name files are set for the program by env.
  const handed = plan.credentials.map(([name]) => `"${name}=\${CREDENTIALS_DIRECTORY}/${name}"`)
  return [...(handed.length === 0 ? [] : ["/usr/bin/env", ...handed]), ...command.map(SystemdUnit.quoted)].join(" ")
}

const mayOf = ({ descriptors, lowPort }: Pick<Plan, "descriptors" | "lowPort">) => [
  ...(descriptors === undefined ? [] : [`LimitNOFILE=${descriptors}`]),
  ...SystemdUnit.hardening({ lowPort }),
  // A user namespace of its own would take the right to the low port along.
  ...(lowPort ? [] : ["PrivateUsers=yes"]),
  "ProtectSystem=strict",
  "ProtectHome=yes",
  "ProtectProc=invisible",
  "ProcSubset=pid",
  "RemoveIPC=yes"
]

const ownFolder = (name: string) => [
  "DynamicUser=yes",
  `StateDirectory=${name}`,
  "StateDirectoryMode=0700",
  `WorkingDirectory=%S/${name}`,
  "UMask=0077"
]

/** A whole platform, for {@link renderPlatform}. */
export interface PlatformUnit {
  /** How `catenet` is started, with absolute paths. */
  readonly command: ReadonlyArray<string>
  /** The files of `catenet init` that are there. */
  readonly files: ReadonlyArray<string>
  readonly lowPort: boolean
}

export const platformUnit = "catenet-up"

/** The data folder of a platform that is a service. */
export const platformData = `/var/lib/${platformUnit}`

/** The unit of `catenet up --folder`: root reads the files, the program gets copies that nobody else can read. */
export const renderPlatform = ({ command, files, lowPort }: PlatformUnit): string =>
  SystemdUnit.render({
    description: "Catenet platform",
    start: [...[...command, "up", "--folder"].map(SystemdUnit.quoted), "${CREDENTIALS_DIRECTORY}"].join(" "),
    runs: [
      ...files.map((path) => `LoadCredential=${basename(path)}:${path.replaceAll("%", "%%")}`),
      ...ownFolder(platformUnit)
    ],
    final: [2, 3],
    stopSeconds: platformStopSeconds,
    may: mayOf({ lowPort, descriptors: platformDescriptors })
  })

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
      ...ownFolder(name)
    ],
    final: [2, 3],
    stopSeconds: plan.stopSeconds,
    may: mayOf(plan)
  })
}
