/**
 * The registry of pipelines. An id belongs to the owner for which it was published first, until that owner withdraws it;
 * publishing again replaces the specification.
 */
import { checkRoles, PipelineId, PipelineSpec, PublishedPipeline } from "@catenet/domain/agents/Pipeline"
import {
  NotPipelineOwner,
  PipelineIdTaken,
  PipelineNotFound,
  type RoleTagRepeated,
  type RoleWithoutUnits
} from "@catenet/domain/agents/PipelineErrors"
import type { Caller } from "@catenet/domain/api/Access"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Subject } from "@catenet/domain/values/Ids"
import { codec } from "@catenet/domain/values/JsonText"
import { maxPipelinesPerAccount } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"

/** The table of published pipelines. A specification is stored as the JSON text of the wire, which loses no digit. */
const Row = Schema.Struct({ id: PipelineId, owner: Subject, spec: codec(PipelineSpec), publishedAt: Schema.Int })
const Listed = Schema.Struct({ id: PipelineId, owner: Subject })
type Listed = typeof Listed.Type

const makePipelineStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return {
    /** Publications of one owner come one after the other. */
    lock: (owner: Subject) => sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${owner}), 48))`,
    /** No row where the id is another owner's or the owner has no room; the caller holds the owner's lock. */
    put: SqlSchema.findOneOption({
      Request: Row,
      Result: Schema.Struct({ id: PipelineId }),
      execute: ({ id, owner, publishedAt, spec }) => sql`
        insert into pipelines (id, owner, spec, published_at) select ${id}, ${owner}, ${spec}, ${publishedAt}::bigint
        where (select count(*) from pipelines where owner = any(quota_subjects(${owner})) and id <> ${id}) < ${maxPipelinesPerAccount}
        on conflict (id) do update set spec = excluded.spec, published_at = excluded.published_at
        where pipelines.owner = excluded.owner
        returning id`
    }),
    remove: (id: PipelineId, owner: Subject) =>
      sql`delete from pipelines where id = ${id} and owner = ${owner} returning id`,
    find: SqlSchema.findOneOption({
      Request: PipelineId,
      Result: Schema.Struct({ spec: codec(PipelineSpec) }),
      execute: (id) => sql`select spec from pipelines where id = ${id}`
    }),
    isPublished: (id: PipelineId) => sql`select 1 from pipelines where id = ${id}`,
    list: SqlSchema.findAll({
      Request: Schema.Struct({
        owner: Schema.UndefinedOr(Subject),
        after: Schema.UndefinedOr(PipelineId),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Listed,
      execute: ({ after, limit, owner }) => sql`
        select id, owner from pipelines where ${sql.and([
          sql`true`,
          ...(owner === undefined ? [] : [sql`owner = ${owner}`]),
          ...(after === undefined ? [] : [sql`id > ${after}`])
        ])} order by id ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    transaction: sql.withTransaction
  }
})

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
    const store = yield* makePipelineStore
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

    const listed = ({ id, owner }: Listed) => new PublishedPipeline({ id, owner })

    return {
      publish: Effect.fn("Pipelines.publish")(function* ({ subject }: Account, spec: PipelineSpec) {
        if (!(yield* put(subject, subject, spec))) return yield* new NotPipelineOwner()
      }, sqlOrDie),

      publishFor: Effect.fn("Pipelines.publishFor")(function* (owner: Subject, spec: PipelineSpec) {
        if (!(yield* put("operator", owner, spec))) return yield* new PipelineIdTaken()
      }, sqlOrDie),

      withdraw: Effect.fn("Pipelines.withdraw")(function* ({ subject }: Account, id: PipelineId) {
        const withdrawn = yield* store.remove(id, subject)
        if (withdrawn.length > 0) return yield* audits.append(audit("pipeline_withdrawn", subject, id))
        return yield* Option.isSome(yield* store.find(id)) ? new NotPipelineOwner() : new PipelineNotFound()
      }, inTransactionOf(store)),

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

  static readonly layer = Layer.effect(Pipelines, Pipelines.make).pipe(Layer.provide([Audits.layer]))
}
