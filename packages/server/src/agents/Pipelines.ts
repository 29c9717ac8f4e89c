/**
 * The registry of pipelines. An id belongs to the owner for which it was published first, until that owner withdraws it;
 * publishing again replaces the specification.
 */
import { checkRoles, PipelineId, type PipelineSpec, PublishedPipeline } from "@catenet/domain/agents/Pipeline"
import {
  NotPipelineOwner,
  PipelineIdTaken,
  PipelineNotFound,
  type RoleTagRepeated,
  type RoleWithoutUnits
} from "@catenet/domain/agents/PipelineErrors"
import type { Caller } from "@catenet/domain/api/Access"
import { audit } from "@catenet/domain/values/AuditEffect"
import { maxPipelinesPerAccount } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import type { Subject } from "@catenet/domain/values/Subject"
import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { paged, type Page } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/InsertWithinQuota.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./PipelineStore.ts"

type Account = Caller["Service"]

export class Pipelines extends Context.Service<
  Pipelines,
  {
    /** An account publishes under its own name. */
    readonly publish: (
      account: Account,
      spec: PipelineSpec
    ) => Effect.Effect<void, LimitReached | NotPipelineOwner | RoleTagRepeated | RoleWithoutUnits>
    /** An operator publishes for an owner. */
    readonly publishFor: (
      owner: Subject,
      spec: PipelineSpec
    ) => Effect.Effect<void, LimitReached | PipelineIdTaken | RoleTagRepeated | RoleWithoutUnits>
    /** Takes a pipeline out of the registry; its id is free again. */
    readonly withdraw: (account: Account, id: PipelineId) => Effect.Effect<void, NotPipelineOwner | PipelineNotFound>
    /** All pipelines, or those of one owner, by id. */
    readonly list: (
      page: Page,
      owner?: Subject | undefined
    ) => Effect.Effect<ReadonlyArray<PublishedPipeline>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (id: PipelineId) => Effect.Effect<PipelineSpec, PipelineNotFound>
  }
>()("server/agents/Pipelines") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const audits = yield* Audits

    /** Answers whether the owner has the id now. Concurrent first publications wait for each other; one of them gets it. */
    const put = Effect.fnUntraced(function* (actor: string, owner: Subject, spec: PipelineSpec) {
      yield* Effect.fromResult(checkRoles(spec.roles))
      if (spec.operator_pubkey_hex === null) {
        yield* Effect.logWarning("A pipeline without an operator key has no role channels.", { pipeline: spec.id })
      }
      yield* store.lock(owner)
      const stored = yield* store.put({ id: spec.id, owner, spec, publishedAt: yield* unixSeconds })
      if (Option.isNone(stored)) {
        yield* Effect.flatMap(
          store.isPublished(spec.id),
          insertWithinQuota("pipelines of this account", maxPipelinesPerAccount)
        )
        return false
      }
      yield* audits.append(audit("pipeline_published", actor, spec.id, owner))
      return true
    }, store.transaction)

    const listed = ({ id, owner }: Store.Listed) => new PublishedPipeline({ id, owner })

    return {
      publish: Effect.fn("Pipelines.publish")(function* ({ subject }: Account, spec: PipelineSpec) {
        if (!(yield* put(subject, subject, spec))) return yield* new NotPipelineOwner()
      }, sqlOrDie),

      publishFor: Effect.fn("Pipelines.publishFor")(function* (owner: Subject, spec: PipelineSpec) {
        if (!(yield* put("operator", owner, spec))) return yield* new PipelineIdTaken()
      }, sqlOrDie),

      withdraw: Effect.fn("Pipelines.withdraw")(
        function* ({ subject }: Account, id: PipelineId) {
          const withdrawn = yield* store.remove(id, subject)
          if (withdrawn.length > 0) return yield* audits.append(audit("pipeline_withdrawn", subject, id))
          return yield* Option.isSome(yield* store.find(id)) ? new NotPipelineOwner() : new PipelineNotFound()
        },
        store.transaction,
        sqlOrDie
      ),

      list: Effect.fn("Pipelines.list")(function* (page: Page, owner?: Subject) {
        const found = yield* paged(
          page,
          PipelineId,
          (slice) => store.list({ owner, ...slice }),
          ({ id }) => id
        )
        return found.map(listed)
      }, Effect.orDie),

      get: Effect.fn("Pipelines.get")(function* (id: PipelineId) {
        const found = yield* store.find(id)
        return yield* Option.isSome(found) ? Effect.succeed(found.value.spec) : new PipelineNotFound()
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Pipelines, Pipelines.make)
  static readonly layer = Pipelines.layerNoDeps.pipe(Layer.provide([Audits.layer]))
}
