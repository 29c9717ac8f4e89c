/**
 * This process's role in a trial: `parent`, the old version that only waits, or `child`, the version on trial. The variable is
 * removed from the environment, so that programs started by the agent have no role. Also whether a supervisor restarts this
 * process.
 */

/** Whether something starts this program again when it ends. Pure. */
export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly ppid: number
}

/** Set by process supervisors and container runtimes. */
const marks = new Set(["SUPERVISOR_ENABLED", "PM2_HOME", "RC_SVCNAME", "S6_SERVICE_PATH", "KUBERNETES_SERVICE_HOST"])

/** A version on trial is a child of the process that the manager started. */
const isSystemds = ({ env, pid, ppid }: Surroundings) => {
  const started = env["SYSTEMD_EXEC_PID"]
  // A desktop's terminal inherits both variables from the session, which is itself a service.
  if (started !== undefined) return started === String(pid) || started === String(ppid)
  return env["INVOCATION_ID"] !== undefined && ppid === 1
}

export const isSupervised = (surroundings: Surroundings): boolean => {
  const { env, pid, platform, ppid } = surroundings
  if (Object.entries(env).some(([name, value]) => marks.has(name) && value !== "")) return true
  // In a macOS terminal the name is 0; a launchd job has its label.
  if (platform === "darwin") return ppid === 1 || !["", "0"].includes(env["XPC_SERVICE_NAME"] ?? "")
  // A Windows service has no user session.
  if (platform === "win32") return (env["SESSIONNAME"] ?? "") === ""
  return pid === 1 || ppid === 1 || isSystemds(surroundings)
}

export const warning =
  "CT_AGENT_AUTO_UPDATE is set and no service manager has started this agent: it goes on by itself after an update, but nothing " +
  "starts it again after a fault or with the machine. Make it a service: ct-agent service"

type TrialRole = "parent" | "child"

const variable = "CATENET_UPDATE_STAGE"

const given = process.env[variable]
delete process.env[variable]
const parent = process.ppid

export const role: TrialRole | undefined = given === "parent" || given === "child" ? given : undefined

/** Whether the parent still waits for this process and continues when it ends. */
export const hasParent = (): boolean => role === "child" && process.ppid === parent

/** What shows which program started this process. */
export const surroundings = () => ({
  platform: process.platform,
  env: process.env,
  pid: process.pid,
  ppid: process.ppid
})

/** The environment for a process of that stage. */
export const environment = (as?: TrialRole): NodeJS.ProcessEnv =>
  as === undefined ? process.env : { ...process.env, [variable]: as }
