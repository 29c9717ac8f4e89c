/** Reads members of JSON objects of unknown shape, for the transformations of an OpenAPI document. */
import { Predicate } from "effect"

export type Members = Readonly<Record<string, unknown>>

/**
 * Whether this is an object, and no list.
 *
 * @example
 * ```ts
 * import { isRecord } from "@catenet/domain/api/JsonMembers"
 *
 * if (!isRecord({}) || isRecord([]) || isRecord(null)) throw new Error("only objects have members")
 * ```
 */
export const isRecord = (value: unknown): value is Members => Predicate.isObject(value)

/**
 * A copy of the members; none of what is not an object.
 *
 * @example
 * ```ts
 * import { members } from "@catenet/domain/api/JsonMembers"
 *
 * if (members({ a: 1 })["a"] !== 1 || Object.keys(members("text")).length > 0) throw new Error("a text has none")
 * ```
 */
export const members = (value: unknown): Record<string, unknown> => ({ ...(isRecord(value) ? value : {}) })

/**
 * A copy in which every member that is an object is changed, by its name.
 *
 * @example
 * ```ts
 * import { mapped } from "@catenet/domain/api/JsonMembers"
 *
 * const copy = mapped({ get: {}, summary: "s" }, (each, name) => ({ ...each, name }))
 * if (JSON.stringify(copy) !== '{"get":{"name":"get"},"summary":"s"}') throw new Error("only the object changes")
 * ```
 */
export const mapped = (value: unknown, change: (each: Members, name: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members(value)).map(([name, each]) => [name, isRecord(each) ? change(each, name) : each])
  )
