/**
 * The variables that an operator sets for the programs of the stack. Each goes to the programs that read it. One that the
 * stack sets by itself, or that no program reads, is refused by its name: it would have no effect, and the operator would
 * not learn that. Variables of agents are left to agents.
 */
import { variables as ofEdge } from "@catenet/edge/internal/settings/Variables"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as VariableReader from "@catenet/platform/VariableReader"
import { variables } from "@catenet/server/internal/settings/Settings"
import { Effect } from "effect"
import { supervised } from "../supervisor/ChildProcesses.ts"
import { replaceable } from "./Environments.ts"

type Environment = Readonly<Record<string, string>>

/** What is passed on, beside what the stack sets. */
export interface Passed {
  readonly controlPlane: Environment
  readonly edge: Environment
}

const controlPlaneNames: ReadonlySet<string> = new Set(VariableReader.namesOf(variables))
export const edgesNames: ReadonlySet<string> = new Set(VariableReader.namesOf(ofEdge))

/** Pairs of variables whose names have a part that the operator chooses, such as `CT_CP_ACME_EAB_<NAME>_KID`. */
const chosen = Object.values(variables)
  .flatMap(({ family }) => family)
  .map(({ isSecret, name }) => new RegExp(`^${name.replace("<NAME>", "[A-Z0-9]+")}${isSecret ? "(?:_FILE)?" : ""}$`))

export const isOfControlPlane = (name: string) =>
  controlPlaneNames.has(name) || chosen.some((pattern) => pattern.test(name))

/** A name of these families that no program reads is a mistake. */
const family = /^CT_(?:CP|CONTROL_PLANE|PORTAL|GATE|BRIDGE|PAYMENT|EDGE|FRONT_DOOR|IDP|STACK|DEMO)(?:_|$)/

const listed = (names: ReadonlyArray<string>) => names.toSorted().join(", ")

/** What each program gets of `given`; `own` are the names that `up` itself reads, `set` what it sets for each program. */
export const passed = (
  given: Readonly<Record<string, string | undefined>>,
  own: ReadonlySet<string>,
  set: Passed & { readonly others: Environment }
): Effect.Effect<Passed, ConfigurationInvalid> => {
  const controlPlane = new Map<string, string>()
  const edge = new Map<string, string>()
  const overridden: Array<string> = []
  const unread: Array<string> = []
  const fixed = new Map([set.others, set.edge, set.controlPlane].flatMap((each) => Object.entries(each)))
  for (const [name, text = ""] of Object.entries(given)) {
    if (text.trim() === "" || own.has(name) || name === supervised) continue
    const ours = replaceable.has(name) ? undefined : fixed.get(name)
    const isFileOfOurs = name.endsWith("_FILE") && fixed.has(name.slice(0, -"_FILE".length))
    if ((ours !== undefined && ours !== text.trim()) || isFileOfOurs) overridden.push(name)
    else if (isOfControlPlane(name) || edgesNames.has(name)) {
      if (isOfControlPlane(name)) controlPlane.set(name, text)
      if (edgesNames.has(name)) edge.set(name, text)
    } else if (ours === undefined && family.test(name)) unread.push(name)
  }
  const problems = [
    {
      names: overridden,
      problem: "the stack sets this by itself",
      remedy: "leave it unset, or run the programs one by one"
    },
    { names: unread, problem: "no program of the stack reads this", remedy: "correct it or leave it unset" }
  ].flatMap(({ names, problem, remedy }) =>
    names.length > 0 ? [{ variable: `${listed(names)}:`, problem, remedy }] : []
  )
  return problems.length > 0
    ? Effect.fail(new ConfigurationInvalid({ problems }))
    : Effect.succeed({ controlPlane: Object.fromEntries(controlPlane), edge: Object.fromEntries(edge) })
}
