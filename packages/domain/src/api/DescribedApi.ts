/** All that is said of an API beside its schemas, so that the documents of control plane, edge and agent say it alike. */
import { flow } from "effect"
import { describeAnswers, describeServers } from "./DescribedAnswers.ts"
import { describeExamples } from "./DescribedExamples.ts"
import { describeOperations } from "./DescribedOperations.ts"
import { describeParameters } from "./DescribedParameters.ts"
import { allowUnknownMembers } from "./DescribedRequests.ts"
import { flattenSchemas } from "./DescribedSchemas.ts"

/** What stands in the head of each document. */
export const documentHead = {
  version: "0.1.0",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" }
}

/**
 * The same OpenAPI document with descriptions, examples and servers.
 *
 * @example
 * ```ts
 * import { describeApi } from "@catenet/domain/api/DescribedApi"
 *
 * if (JSON.stringify(describeApi({})["servers"]) === undefined) throw new Error("where it is served")
 * ```
 */
export const describeApi: (spec: Record<string, unknown>) => Record<string, unknown> = flow(
  flattenSchemas,
  describeAnswers,
  describeParameters,
  describeOperations,
  allowUnknownMembers,
  describeExamples,
  describeServers
)
