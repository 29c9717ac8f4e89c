/**
 * What a process is to a version on trial: its `parent`, which is the old version and does nothing but wait for it, or the `child`
 * that is on trial. The variable is taken out of the environment: what the agent starts is neither.
 */

type TrialRole = "parent" | "child"

const variable = "CATENET_UPDATE_STAGE"

const given = process.env[variable]
delete process.env[variable]
const parent = process.ppid

export const role: TrialRole | undefined = given === "parent" || given === "child" ? given : undefined

/** Whether the parent still waits for this process, and goes on when it ends. */
export const hasParent = (): boolean => role === "child" && process.ppid === parent

/** What tells who has started this process. */
export const surroundings = () => ({
  platform: process.platform,
  env: process.env,
  pid: process.pid,
  ppid: process.ppid
})

/** The environment for a process of that stage. */
export const environment = (as?: TrialRole): NodeJS.ProcessEnv =>
  as === undefined ? process.env : { ...process.env, [variable]: as }
