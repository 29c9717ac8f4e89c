/** The public directory of agents, as operators and accounts registered them. A listed agent may have stopped answering. */
import * as DirectoryProof from "@catenet/crypto/DirectoryProof"
import { native } from "@catenet/crypto/native"
import {
  CardUrl,
  DirectoryEntry,
  type DirectoryRegistration,
  DirectoryToken,
  OwnDirectoryEntry,
  type ProvedRegistration
} from "@catenet/domain/agents/Directory"
import { AgentNotListed, DirectoryProofRefused } from "@catenet/domain/agents/PipelineErrors"
import type { Caller } from "@catenet/domain/api/Access"
import { audit } from "@catenet/domain/values/AuditEffect"
import { Subject } from "@catenet/domain/values/Ids"
import { HolderKey } from "@catenet/domain/values/Keys"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { maxListedAgentsPerAccount } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Page, paged } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { inTransaction, sqlOrDie } from "../store/SqlOrDie.ts"

/** The table of the agent directory. */
const tokens = Schema.Array(DirectoryToken)
const Entry = Schema.Struct({
  holderPubkey: HolderKey,
  cardUrl: CardUrl,
  roleTags: tokens,
  skillIds: tokens,
  registeredAt: UnixSeconds,
  /** Null for entries of the operator. */
  subject: Schema.NullOr(Subject),
  expiresAt: Schema.NullOr(UnixSeconds)
})
type Entry = typeof Entry.Type

const makeDirectoryStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const entries = sql`select holder_pubkey, card_url, role_tags, skill_ids, registered_at, subject, expires_at
    from directory_agents`
  const isListed = (now: number) => sql`(expires_at is null or expires_at > ${now})`
  return {
    lock: (subject: Subject) => sql`select pg_advisory_xact_lock(hashtextextended(quota_subject(${subject}), 102))`,
    /** No row where the account has no room; the caller holds the account's lock. */
    put: ({ cardUrl, expiresAt, holderPubkey, registeredAt, roleTags, skillIds, subject }: Entry) => sql`
      insert into directory_agents (holder_pubkey, card_url, role_tags, skill_ids, registered_at, subject, expires_at)
      select ${holderPubkey}, ${cardUrl}, ${roleTags}::text[], ${skillIds}::text[], ${registeredAt}::bigint,
        ${subject}::text, ${expiresAt}::bigint
      where ${subject}::text is null or (select count(*) from directory_agents
        where subject = any(quota_subjects(${subject})) and holder_pubkey <> ${holderPubkey}) < ${maxListedAgentsPerAccount}
      on conflict (holder_pubkey) do update set card_url = excluded.card_url, role_tags = excluded.role_tags,
        skill_ids = excluded.skill_ids, registered_at = excluded.registered_at, subject = excluded.subject,
        expires_at = excluded.expires_at
      returning holder_pubkey`,
    find: SqlSchema.findOneOption({
      Request: Schema.Struct({ holder: HolderKey, now: Schema.Int }),
      Result: Entry,
      execute: ({ holder, now }) => sql`${entries} where holder_pubkey = ${holder} and ${isListed(now)}`
    }),
    listOwn: SqlSchema.findAll({
      Request: Schema.Struct({
        subject: Subject,
        now: Schema.Int,
        after: Schema.UndefinedOr(HolderKey),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Entry,
      execute: ({ after, limit, now, subject }) => sql`
        ${entries} where subject = ${subject} and ${isListed(now)}
          ${after === undefined ? sql`` : sql`and holder_pubkey > ${after}`}
        order by holder_pubkey ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    remove: (subject: Subject, holder: HolderKey) =>
      sql`delete from directory_agents where holder_pubkey = ${holder} and subject = ${subject} returning holder_pubkey`,
    prune: (now: number) => sql`delete from directory_agents where expires_at <= ${now}`,
    search: SqlSchema.findAll({
      Request: Schema.Struct({
        role: Schema.UndefinedOr(DirectoryToken),
        skill: Schema.UndefinedOr(DirectoryToken),
        now: Schema.Int,
        after: Schema.UndefinedOr(HolderKey),
        limit: Schema.UndefinedOr(Schema.Int)
      }),
      Result: Entry,
      execute: ({ after, limit, now, role, skill }) => sql`
        ${entries} where ${sql.and([
          isListed(now),
          ...(role === undefined ? [] : [sql`role_tags @> ${[role]}::text[]`]),
          ...(skill === undefined ? [] : [sql`skill_ids @> ${[skill]}::text[]`]),
          ...(after === undefined ? [] : [sql`holder_pubkey > ${after}`])
        ])} order by holder_pubkey ${limit === undefined ? sql`` : sql`limit ${limit}`}`
    }),
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

/** Seconds for which a proof is good, in both directions of the clock. */
const patience = 300

/** A search: for entries that have both tokens, each matched as a whole. */
interface Search extends Page {
  readonly role?: string
  readonly skill?: string
}

const dependencies = Effect.gen(function* () {
  const store = yield* makeDirectoryStore
  const audits = yield* Audits
  return { audits, store }
})
type State = Effect.Success<typeof dependencies>

const entry = ({ cardUrl, holderPubkey, registeredAt, roleTags, skillIds }: Entry) =>
  new DirectoryEntry({
    holder_pubkey: holderPubkey,
    card_url: cardUrl,
    role_tags: roleTags,
    skill_ids: skillIds,
    registered_at: registeredAt
  })

const register = Effect.fn("Directory.register")(function* (
  { audits, store }: State,
  registration: DirectoryRegistration
) {
  const { card_url, holder_pubkey, role_tags, skill_ids } = registration
  yield* store.put({
    holderPubkey: holder_pubkey,
    cardUrl: card_url,
    roleTags: role_tags,
    skillIds: skill_ids,
    registeredAt: yield* unixSeconds,
    subject: null,
    expiresAt: null
  })
  yield* audits.append(audit("directory_agent_registered", "operator", holder_pubkey, card_url))
}, inTransaction)

const enlist = Effect.fn("Directory.enlist")(function* (
  { audits, store }: State,
  { subject }: Account,
  registration: ProvedRegistration
) {
  const { card_url, expires_at, holder_pubkey, issued_at, proof, role_tags, skill_ids } = registration
  const now = yield* unixSeconds
  if (expires_at <= now) return yield* new DirectoryProofRefused({ reason: "expired" })
  if (Math.abs(now - issued_at) > patience) return yield* new DirectoryProofRefused({ reason: "time" })
  const signed = {
    subject,
    holder: bytesOf(holder_pubkey),
    cardUrl: card_url,
    roleTags: role_tags,
    skillIds: skill_ids,
    issuedAt: BigInt(issued_at),
    expiresAt: BigInt(expires_at)
  }
  if (!DirectoryProof.verify(native, signed, bytesOf(proof)))
    return yield* new DirectoryProofRefused({ reason: "signature" })
  yield* store.lock(subject)
  const stored = yield* store.put({
    holderPubkey: holder_pubkey,
    cardUrl: card_url,
    roleTags: role_tags,
    skillIds: skill_ids,
    registeredAt: now,
    subject,
    expiresAt: expires_at
  })
  yield* insertWithinQuota("agents of this account in the directory", maxListedAgentsPerAccount)(stored)
  yield* audits.append(audit("directory_agent_registered", subject, holder_pubkey, card_url))
}, inTransaction)

const listOwn = Effect.fn("Directory.listOwn")(function* ({ store }: State, { subject }: Account, page: Page) {
  const now = yield* unixSeconds
  const found = yield* paged(
    page,
    HolderKey,
    (slice) => store.listOwn({ subject, now, ...slice }),
    ({ holderPubkey }) => holderPubkey
  )
  return found.map((own) => new OwnDirectoryEntry({ ...entry(own), expires_at: own.expiresAt ?? own.registeredAt }))
}, Effect.orDie)

const unlist = Effect.fn("Directory.unlist")(function* (
  { audits, store }: State,
  { subject }: Account,
  holder: HolderKey
) {
  if ((yield* store.remove(subject, holder)).length === 0) return yield* new AgentNotListed()
  yield* audits.append(audit("directory_agent_removed", subject, holder))
}, inTransaction)

const search = Effect.fn("Directory.search")(function* ({ store }: State, { role, skill, ...page }: Search) {
  const now = yield* unixSeconds
  const found = yield* paged(
    page,
    HolderKey,
    (slice) => store.search({ role, skill, now, ...slice }),
    ({ holderPubkey }) => holderPubkey
  )
  return found.map(entry)
}, Effect.orDie)

const get = Effect.fn("Directory.get")(function* ({ store }: State, holder: HolderKey) {
  const found = yield* store.find({ holder, now: yield* unixSeconds })
  return yield* Option.isSome(found) ? Effect.succeed(entry(found.value)) : new AgentNotListed()
}, sqlOrDie)

export class Directory extends Context.Service<
  Directory,
  {
    /** Registers an agent, in place of an earlier registration of its key. */
    readonly register: (registration: DirectoryRegistration) => Effect.Effect<void>
    /** Registers an agent for an account that its holder has signed for, in place of an earlier registration of its key. */
    readonly enlist: (
      account: Account,
      registration: ProvedRegistration
    ) => Effect.Effect<void, DirectoryProofRefused | LimitReached>
    readonly listOwn: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<OwnDirectoryEntry>, never, HttpServerRequest.HttpServerRequest>
    readonly unlist: (account: Account, holder: HolderKey) => Effect.Effect<void, AgentNotListed>
    /** Deletes entries whose card has expired. */
    readonly prune: Effect.Effect<void>
    /** Lists entries, sorted by holder key. */
    readonly search: (
      query: Search
    ) => Effect.Effect<ReadonlyArray<DirectoryEntry>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (holder: HolderKey) => Effect.Effect<DirectoryEntry, AgentNotListed>
  }
>()("server/agents/Directory") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { register, enlist, listOwn, unlist, search, get }),
    prune: Effect.asVoid(Effect.orDie(Effect.flatMap(unixSeconds, state.store.prune)))
  }))

  static readonly layer = Layer.effect(Directory, Directory.make).pipe(Layer.provide([Audits.layer]))
}
