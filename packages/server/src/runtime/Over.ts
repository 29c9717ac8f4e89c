/** The functions of a service are written at the top of its module and take its state first, so that a search finds them. */

type Table<State> = Readonly<Record<string, (state: State, ...rest: never) => unknown>>

type Bound<State, Functions extends Table<State>> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (state: State, ...rest: infer Rest) => infer Answer
    ? (...rest: Rest) => Answer
    : never
}

/** The same functions over one state. */
export const over = <State, Functions extends Table<State>>(state: State, functions: Functions) =>
  Object.fromEntries(
    Object.entries(functions).map(([name, each]) => [name, (each as (state: State) => unknown).bind(undefined, state)])
  ) as Bound<State, Functions>
