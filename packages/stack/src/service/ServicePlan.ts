/** What the variables of a program ask of the machine: ports kept for root, files that it is handed, folders it writes to. Pure. */
import { variables as ofEdge } from "@catenet/edge/internal/settings/Variables"
import type { Problem } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { variables as ofServer } from "@catenet/server/internal/settings/Settings"
import { isAbsolute, posix } from "node:path"

export const programs = ["serve", "edge"] as const

export type Program = (typeof programs)[number]

export interface Plan {
  readonly lowPort: boolean
  /** Files outside its own folder that systemd reads as root and hands to the program, by the variables that name them. */
  readonly credentials: ReadonlyArray<readonly [variable: string, path: string]>
  /** Seconds after SIGTERM before the program is killed. */
  readonly stopSeconds: number
  /** Descriptors that it may open; undefined for the system's own number. */
  readonly descriptors: number | undefined
  /** What a person has to change first. */
  readonly problems: ReadonlyArray<Problem>
}

const names = VariableReader.namesOf(ofEdge)

interface Reads {
  readonly listens: ReadonlyArray<string>
  readonly reads: ReadonlyArray<string>
  readonly writes: ReadonlyArray<string>
  readonly grace: string
  /** How long it takes requests before its grace begins. */
  readonly delay: string
  readonly connections: string | undefined
}

const reads: Readonly<Record<Program, Reads>> = {
  serve: {
    listens: ["CT_CONTROL_PLANE_LISTEN"],
    reads: [...VariableReader.namesOf(ofServer).filter((name) => name.endsWith("_FILE")), "CT_OIDC_PUBKEY_PATH"],
    writes: [],
    grace: "CT_CP_SHUTDOWN_GRACE_SECS",
    delay: "CT_CP_DRAIN_DELAY_SECS",
    connections: undefined
  },
  edge: {
    listens: ["CT_FRONT_DOOR", "CT_EDGE_HTTP_REDIRECT", ...names.filter((name) => name.endsWith("_LISTEN"))],
    reads: names.filter((name) => /_(?:CERT|KEY|FILE)$/.test(name)),
    writes: ["CT_EDGE_CERT_OUT", ...names.filter((name) => name.endsWith("_PATH"))],
    grace: "CT_EDGE_SHUTDOWN_GRACE_SECS",
    delay: "CT_EDGE_DRAIN_DELAY_SECS",
    connections: "CT_EDGE_MAX_CONNECTIONS"
  }
}

/** Every variable that counts here. */
export const variables = (program: Program): ReadonlyArray<string> => {
  const { connections, delay, grace, listens, reads: read, writes } = reads[program]
  return [...listens, ...read, ...writes, grace, delay, ...(connections === undefined ? [] : [connections])]
}

export const unitName = (program: Program) => `catenet-${program}`

/** The only folder that the program may write to. */
export const stateFolder = (program: Program) => `/var/lib/${unitName(program)}`

const isLow = (address: string | undefined) => {
  const port = Number(/:(\d+)$/.exec(address ?? "")?.[1] ?? 0)
  return port > 0 && port < 1024
}

const graceSeconds = 30
/** What a program needs beside its grace: the last answers of others, and closing what it keeps. */
const spareSeconds = 15
const defaultConnections = 8192
/** What a machine gives without being asked for more is far less. */
const fewestDescriptors = 65_536
const maxDescriptors = 1_048_576

const descriptorsFor = (connections: string | undefined) => {
  if (connections === undefined) return Math.max(fewestDescriptors, 2 * defaultConnections)
  const most = /^\d+$/.test(connections) ? Number(connections) : 0
  return most === 0 ? maxDescriptors : Math.min(maxDescriptors, Math.max(fewestDescriptors, 2 * most + 1024))
}

export const plan = (program: Program, values: ReadonlyMap<string, string>): Plan => {
  const asked = reads[program]
  const folder = stateFolder(program)
  const isInside = (path: string) => posix.resolve(folder, path).startsWith(`${folder}/`)
  const credentials = asked.reads.flatMap((name) => {
    const path = values.get(name)
    // The program reads its own folder itself, and so sees when a file there changes; a credential is a copy from its start.
    return path === undefined || (isAbsolute(path) && isInside(path)) ? [] : [[name, path] as const]
  })
  const seconds = (name: string, standard: number) => {
    const text = values.get(name) ?? ""
    return /^\d+$/.test(text) ? Number(text) : standard
  }
  return {
    lowPort: asked.listens.some((name) => isLow(values.get(name))),
    credentials,
    stopSeconds: seconds(asked.delay, 0) + seconds(asked.grace, graceSeconds) + spareSeconds,
    descriptors: asked.connections === undefined ? undefined : descriptorsFor(values.get(asked.connections)),
    problems: [
      ...credentials
        .filter(([, path]) => !isAbsolute(path) || /[:\s]/.test(path))
        .map(([variable]) => ({
          variable,
          problem: "must be a path from / on without colon or white space",
          remedy: "systemd reads the file"
        })),
      ...asked.writes
        .filter((name) => !isInside(values.get(name) ?? ""))
        .filter((name) => values.has(name))
        .map((variable) => ({
          variable,
          problem: `must lie in ${folder}, the only folder that the service may write to`
        }))
    ]
  }
}
