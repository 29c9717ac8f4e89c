/** The OpenAPI document with what every route is for, from the table of summaries. */
import { Option, Record } from "effect"
import { endpointSummaries } from "./EndpointSummaries.ts"
import { isRecord, mapped, type Members } from "./LosslessJson.ts"

const summaryOf = (operationId: unknown): string | undefined => {
  const [group = "", endpoint = ""] = String(operationId).split(".")
  return Record.get(endpointSummaries, group).pipe(
    Option.flatMap(({ routes }) => Record.get(routes, endpoint)),
    Option.getOrUndefined
  )
}

const named = (operation: Members) => {
  const summary = summaryOf(operation["operationId"])
  return summary === undefined ? operation : { ...operation, summary }
}

const tagged = (tag: unknown) => {
  const about = isRecord(tag)
    ? Option.getOrUndefined(Record.get(endpointSummaries, String(tag["name"])))?.about
    : undefined
  return isRecord(tag) && about !== undefined ? { ...tag, description: about } : tag
}

/**
 * The same OpenAPI document with a sentence at every route, and a heading at every tag.
 *
 * @example
 * ```ts
 * import { describeEndpoints } from "@catenet/domain/api/DescribedRoutes"
 *
 * const { tags } = describeEndpoints({ tags: [{ name: "badges" }] })
 * if (JSON.stringify(tags) !== '[{"name":"badges","description":"Badges"}]') throw new Error("no heading")
 * ```
 */
export const describeEndpoints = (spec: Record<string, unknown>): Record<string, unknown> => ({
  ...spec,
  paths: mapped(spec["paths"], (methods) => mapped(methods, named)),
  tags: Array.isArray(spec["tags"]) ? spec["tags"].map(tagged) : spec["tags"]
})
