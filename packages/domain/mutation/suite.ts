/**
 * Stands in for the test runner while mutants are tried: it collects tests instead of running them, so that one process can
 * run the same tests a thousand times. Services of the test environment, such as a test clock, are not provided.
 */
import { Arbitrary, Effect, type Schema } from "effect"
import { assert, expect } from "vitest"

/** A collected test. Of a property more runs may tell more; of the others one run tells all. */
export interface Test {
  readonly name: string
  readonly property: boolean
  readonly run: () => Promise<void>
}

const collected: Array<Test> = []

/** Takes what was collected since the last call. */
export const takeTests = (): ReadonlyArray<Test> => collected.splice(0)

type Body = (...args: ReadonlyArray<unknown>) => unknown
type Input = Schema.Schema<unknown> | Arbitrary.Arbitrary<unknown>
type Inputs = ReadonlyArray<Input> | Readonly<Record<string, Input>>
interface Options {
  readonly arbitrary?: Arbitrary.CheckOptions
}

const settle = async (output: unknown): Promise<void> => {
  const value = await output
  if (Effect.isEffect(value)) await Effect.runPromise(Effect.scoped(value as Effect.Effect<unknown>))
}

/** Bodies come before or after the options. */
const bodyOf = (args: ReadonlyArray<unknown>): Body =>
  (args.find((arg) => typeof arg === "function") ?? (() => undefined)) as Body

const add = (name: string, ...args: ReadonlyArray<unknown>): void => {
  const body = bodyOf(args)
  collected.push({ name, property: false, run: () => settle(body({})) })
}

const each =
  (register: (name: string, body: Body) => void) =>
  (rows: ReadonlyArray<unknown>) =>
  (name: string, ...args: ReadonlyArray<unknown>): void => {
    const body = bodyOf(args)
    for (const row of rows) register(name, () => (Array.isArray(row) ? body(...(row as Array<unknown>)) : body(row)))
  }

const arbitrary = (input: Input) => (Arbitrary.isArbitrary(input) ? input : Arbitrary.schema(input))

const prop = (name: string, inputs: Inputs, property: Body, options?: number | Options): void => {
  const values = Array.isArray(inputs)
    ? Arbitrary.all(inputs.map(arbitrary))
    : Arbitrary.all(Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, arbitrary(input as Input)])))
  const check = {
    runs: Number(process.env["CATENET_PROPERTY_RUNS"]),
    ...(typeof options === "object" && options.arbitrary)
  }
  const holds = (value: unknown) =>
    Effect.promise(async () => {
      const output = await property(value)
      await settle(output)
      return output !== false
    })
  collected.push({
    name,
    property: true,
    run: async () => {
      // Nothing is gained by shrinking the input that kills a mutant; the seed makes the score repeatable.
      const result = await Effect.runPromise(Arbitrary.checkEffect(values, holds, { ...check, seed: 1, maxShrinks: 0 }))
      const failure = Arbitrary.formatCheckFailure(result)
      if (failure !== undefined) throw new Error(failure)
    }
  })
}

const skipIf = (skip: unknown) => (skip ? () => undefined : add)

const effect = Object.assign(add, { each: each(add), prop, skipIf })

export const it = Object.assign((name: string, ...args: ReadonlyArray<unknown>) => add(name, ...args), {
  each: each(add),
  effect,
  live: effect,
  only: add,
  prop,
  skip: () => undefined,
  skipIf
})
export const test = it

const group = (_name: string, ...args: ReadonlyArray<unknown>): void => {
  bodyOf(args)()
}
export const describe = Object.assign(group, { each: each(group), skip: () => undefined, skipIf })

const hook = (body: Body): void => {
  collected.push({ name: "before", property: true, run: () => settle(body()) })
}
export { hook as beforeAll, hook as beforeEach }
export const afterAll = (): void => undefined
export const afterEach = afterAll
export { assert, expect }
