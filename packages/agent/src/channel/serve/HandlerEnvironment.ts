/**
 * What a handler command finds in its environment: what programs need to run at all, and what the operator names. Nothing that is
 * this program's own gets there, so no key, grant or token does. Named boundary file: it reads the process's environment.
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

/** The folders in which programs are looked for. */
export const searchPath = (): string => process.env["PATH"] ?? ""

/** The environment of a command for this service. */
export const environmentOf = (service: string, named: ReadonlyArray<string>): NodeJS.ProcessEnv => {
  const more = new Set(named)
  const passed = Object.entries(process.env).filter(([name]) => isPassed(name, more))
  return { ...Object.fromEntries(passed), CT_SERVICE_TYPE: service }
}

/** The values of those of these variables that are set, and that the operator lets programs of others have. */
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
