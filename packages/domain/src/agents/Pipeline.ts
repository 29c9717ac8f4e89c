/** A pipeline: roles that agents fill by offering capacity, published under an id that its first publisher owns. */
import { Effect, Result, Schema } from "effect"
import { boundedArray } from "../values/BoundedArray.ts"
import { Subject } from "../values/Ids.ts"
import { OperatorKey } from "../values/Keys.ts"
import { Uint64 } from "../values/Numbers.ts"
import { pattern } from "../values/Pattern.ts"
import { line } from "../values/Text.ts"
import { RoleTagRepeated, RoleWithoutUnits } from "./PipelineErrors.ts"

export const PipelineId = Schema.String.check(
  pattern(/^[A-Za-z0-9._-]{1,128}$/u, "1 to 128 of letters, digits, dot, underscore and hyphen")
).pipe(Schema.brand("PipelineId"))
export type PipelineId = typeof PipelineId.Type

/** What an agent can do: one of four known services, or one that is only named. */
export const Service = Schema.Union([
  Schema.Literals(["CodeGeneration", "SecurityReview", "SafetyCheck", "TextGeneration"]),
  Schema.Struct({ Custom: line(128) })
])
export type Service = typeof Service.Type

/** How one offer is chosen among those that fit. */
export const SelectionPolicy = Schema.Literals(["LowestFloor", "RoundRobin", "LeastCalls"])
export type SelectionPolicy = typeof SelectionPolicy.Type

/** A role's name inside its pipeline. */
export const RoleTag = line(128).pipe(Schema.brand("RoleTag"))
export type RoleTag = typeof RoleTag.Type

/** A null policy inherits the pipeline's. */
export class Role extends Schema.Class<Role>("Role")({
  service: Service,
  units: Uint64,
  tag: RoleTag,
  selection_policy: Schema.NullOr(SelectionPolicy).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))
}) {}

/** Channels of its roles can be derived only when it names an operator. */
export class PipelineSpec extends Schema.Class<PipelineSpec>("PipelineSpec")({
  id: PipelineId,
  roles: boundedArray(64, Role, 1),
  operator_pubkey_hex: Schema.NullOr(OperatorKey).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  selection_policy: SelectionPolicy.pipe(Schema.withDecodingDefaultKey(Effect.succeed("LowestFloor" as const)))
}) {}

/**
 * What a schema does not say of the roles of a pipeline: each asks for a unit at least and has a tag of its own. The first
 * role that breaks a rule is named.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { checkRoles } from "@catenet/domain/agents/Pipeline"
 *
 * const writer = { tag: "writer", units: 1n }
 * assert.ok(Result.isSuccess(checkRoles([writer, { tag: "reader", units: 2n }])))
 * assert.ok(Result.isFailure(checkRoles([writer, writer])))
 * assert.ok(Result.isFailure(checkRoles([{ tag: "idle", units: 0n }])))
 * ```
 */
export const checkRoles = (
  roles: ReadonlyArray<Pick<Role, "tag" | "units">>
): Result.Result<void, RoleTagRepeated | RoleWithoutUnits> => {
  const tags = new Set<string>()
  for (const { tag, units } of roles) {
    if (tags.has(tag)) return Result.fail(new RoleTagRepeated({ tag }))
    if (units === 0n) return Result.fail(new RoleWithoutUnits({ tag }))
    tags.add(tag)
  }
  return Result.void
}

/** As the registry lists it. */
export class PublishedPipeline extends Schema.Class<PublishedPipeline>("PublishedPipeline")({
  id: PipelineId,
  owner: Subject
}) {}
