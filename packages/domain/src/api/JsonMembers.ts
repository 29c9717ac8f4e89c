/** The members of JSON objects whose shape nobody has said, as the transformations of an OpenAPI document meet them. */
import { Predicate } from "effect"

export type Members = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Members => Predicate.isObject(value)

/** A copy of the members; none of what is not an object. */
export const members = (value: unknown): Record<string, unknown> => ({ ...(isRecord(value) ? value : {}) })

/** A copy in which every member that is an object is changed, by its name. */
export const mapped = (value: unknown, change: (each: Members, name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members(value)).map(([name, each]) => [name, isRecord(each) ? change(each, name) : each])
  )
