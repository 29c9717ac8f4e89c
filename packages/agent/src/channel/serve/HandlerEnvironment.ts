/**
 * The environment of handler commands: what programs need to run, and what the operator names. The agent's own variables are
 * never passed, so no key, grant or token is. Boundary file: it reads the process's environment.
 */
import { isOwn } from "../../settings/MemberRules.ts"

const plain = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "TERM",
  "SYSTEMROOT",
  "PATHEXT",
  "COMSPEC",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA"
])

const isPassed = (name: string, named: ReadonlySet<string>) =>
  !isOwn(name) && (plain.has(name.toUpperCase()) || name.startsWith("LC_") || named.has(name))

/** The search path for programs. */
export const searchPath = (): string => process.env["PATH"] ?? ""

export const isUnset = (name: string): boolean => !Object.hasOwn(process.env, name)

/** The environment of a command for this service. */
export const environmentOf = (service: string, named: ReadonlyArray<string>): NodeJS.ProcessEnv => {
  const more = new Set(named)
  const passed = Object.entries(process.env).filter(([name]) => isPassed(name, more))
  return { ...Object.fromEntries(passed), CT_SERVICE_TYPE: service }
}

/** The values of those of these variables that are set and that the operator allows for installed programs. */
export const valuesOf = (
  names: ReadonlyArray<string>,
  named: ReadonlyArray<string>
): Readonly<Record<string, string>> => {
  const wanted = new Set(names)
  const passed = new Set(named)
  const isGiven = (name: string) => wanted.has(name) && passed.has(name) && !isOwn(name)
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && isGiven(name) ? [[name, value] as const] : []
    )
  )
}
