/** The tables of the certificates that the control plane orders itself, its accounts, and the edges that have fetched them. */
import { accountShare, budgetWindow } from "@catenet/domain/certificates/CertificateBudget"
import { stepSeconds } from "@catenet/domain/certificates/CertificateStanding"
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** Seconds for which an order may run before another replica tries the host again. */
const leaseSeconds = 600
/** Seconds after which an edge that asks no more is waited for no more. */
const goneSeconds = 30
/** Seconds between two notes that an edge asks, where nothing has changed. */
const noteSeconds = 10

/** Seconds after which a host that had no budget is looked at again, and how many are at a time. */
const restSeconds = 300
const restAtOnce = 500

/** Stands for the control plane among the agents of a host. */
const turnOf = "control plane"

/** To the end of the transaction, budgets are counted here only. */
const claimLock = 0x706c6174

const Held = Schema.Struct({
  host: Schema.String,
  revision: Schema.Int,
  chain: Schema.NullOr(Schema.String),
  key: Schema.NullOr(Schema.String),
  challenge: Schema.NullOr(Schema.String)
})

const Due = Schema.Struct({
  host: Schema.String,
  chain: Schema.NullOr(Schema.String),
  failures: Schema.Int,
  account: Schema.NullOr(Schema.String)
})
export type Due = typeof Due.Type

interface Wanted {
  readonly now: number
  /** Certificates a week for one domain. */
  readonly budget: number
  /** Accounts that have enough running. */
  readonly busy: ReadonlyArray<string>
}

/** Whose share it is: the owner's or, of a service account, that of who made it. */
const accountOf = `(select quota_subject(o.subject) from tunnels o where o.routing_token = h.routing_token)`

/** `zone` is the domain that accounts share; with `covered` its hosts have the zone's wildcard. `own` are the platform's names. */
export const make = (zone: string | undefined, covered: boolean, own: ReadonlyArray<string>) =>
  Effect.map(SqlClient.SqlClient, (sql) => {
    const account = sql.literal(accountOf)
    // What edges show proves no wildcard to an authority: only the agent has its certificate.
    const isProvable = sql.literal(`h.status = 'gelb' and h.hostname not like '*%'`)
    const wanted = covered ? sql`${isProvable} and h.domain <> ${zone ?? ""}` : isProvable
    const isOwn = sql`p.host = any(${own}::text[])`
    const isDue = (now: number) => sql`p.due_at <= ${now} and p.busy_until <= ${now}`
    /** What counts for a week beside a host: what was issued, and what is being ordered now. */
    const others = (now: number) =>
      sql`platform_certificates q where q.domain = p.domain and q.issued_at > ${now - budgetWindow} and q.host <> p.host`
    /** A certificate that is there may be renewed. */
    const hasBudget = ({ budget, now }: Wanted) => sql`(p.chain is not null
      or (select count(*) from ${others(now)}) < ${budget} and (p.domain <> ${zone ?? ""}
        or (select count(*) from ${others(now)} and q.account = ${account}) < ${accountShare(budget)}))`
    const isOrdered = (now: number) => sql`exists (select from certificate_progress c
      where c.hostname = h.hostname and c.at > ${now - stepSeconds})`
    return {
      transaction: sql.withTransaction,
      lock: sql`select pg_advisory_xact_lock(${claimLock})`,

      /** Makes rows for the platform's names; hosts get theirs when they become gelb. */
      want: (now: number) => sql`
        insert into platform_certificates (host, due_at) select name, ${now} from unnest(${own}::text[]) name
        on conflict (host) do nothing`,

      /**
       * Takes one that is due, for as long as an order may run: first the platform's own, then who waits longest and has the
       * budget. While an agent of the host orders, its order and ours would be validated at the same name.
       */
      claim: SqlSchema.findOneOption({
        Request: Schema.Struct({ now: Schema.Int, budget: Schema.Int, busy: Schema.Array(Schema.String) }),
        Result: Due,
        execute: (asked: Wanted) => sql`
          update platform_certificates set busy_until = ${asked.now + leaseSeconds}, account = due.of_account,
            issued_at = case when chain is null then ${asked.now} else issued_at end
          from ((select p.host as due_host, null as of_account from platform_certificates p
              where ${isOwn} and ${isDue(asked.now)} limit 1)
            union all (select p.host, ${account} from platform_certificates p join hosts h on h.hostname = p.host
              where ${isDue(asked.now)} and ${wanted} and not ${isOrdered(asked.now)}
                and (${account} = any(${asked.busy}::text[])) is not true and ${hasBudget(asked)}
              order by p.due_at, p.host limit 1) limit 1) due
          where host = due.due_host returning host, chain, failures, account`
      }),

      /** Agents of the host wait with their orders until the turn is left. */
      takeTurn: (host: string, now: number) => sql`
        insert into certificate_progress as p (hostname, agent, step, at)
          select hostname, ${turnOf}, 'ordering', ${now} from hosts where hostname = ${host}
        on conflict (hostname) do update set agent = excluded.agent, step = excluded.step, at = excluded.at`,
      leaveTurn: (host: string) => sql`
        delete from certificate_progress where hostname = ${host} and agent = ${turnOf}`,

      /**
       * What is due and cannot be taken is looked at again later; what nobody wants any more is deleted when it has ended and
       * counts no more.
       */
      rest: (now: number) => sql`
        with idle as (select p.host as of_host, exists (select from hosts h where h.hostname = p.host and ${wanted}) as is_wanted
            from platform_certificates p where ${isDue(now)} and not ${isOwn} order by p.due_at limit ${restAtOnce}
            for update skip locked),
          gone as (delete from platform_certificates using idle where host = of_host and not is_wanted
            and (chain is null or ends_at <= ${now} and issued_at <= ${now - budgetWindow}))
        update platform_certificates set due_at = ${now + restSeconds} from idle
        where host = of_host and (is_wanted or chain is not null)`,

      /** `certificate` replaces what was there. */
      issued: (host: string, row: { chain: string; key: string; endsAt: number; dueAt: number; now: number }) => sql`
        update platform_certificates set chain = ${row.chain}, key = ${row.key}, ends_at = ${row.endsAt},
          due_at = ${row.dueAt}, issued_at = case when chain is null then ${row.now} else issued_at end, busy_until = 0,
          failures = 0, failure = null, challenge = null, revision = platform_certificate_revision() where host = ${host}`,
      postpone: (host: string, dueAt: number) => sql`
        update platform_certificates set due_at = ${dueAt}, busy_until = 0 where host = ${host}`,
      failed: (host: string, why: string, dueAt: number) => sql`
        update platform_certificates set due_at = ${dueAt}, busy_until = 0, failures = failures + 1, failure = ${why},
          issued_at = case when chain is null then null else issued_at end where host = ${host}`,
      /** The revision from which on edges show the challenge. */
      challenge: SqlSchema.findOne({
        Request: Schema.Struct({ host: Schema.String, challenge: Schema.NullOr(Schema.String) }),
        Result: Schema.Struct({ revision: Schema.Int }),
        execute: ({ challenge, host }) => sql`
          update platform_certificates set challenge = ${challenge}, revision = platform_certificate_revision()
          where host = ${host} returning revision::int8`
      }),

      /** What changed after a revision, in order. */
      since: SqlSchema.findAll({
        Request: Schema.Struct({ since: Schema.Int, limit: Schema.Int }),
        Result: Held,
        execute: ({ limit, since }) => sql`
          select host, revision, chain, key, challenge from platform_certificates where revision > ${since}
          order by revision limit ${limit}`
      }),
      last: SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ last: Schema.Int }),
        execute: () => sql`select coalesce(max(revision), 0) as last from platform_certificates`
      }),
      /** An edge has everything up to this revision. */
      note: (id: string, revision: number, now: number) => sql`
        insert into platform_certificate_edges as e (id, revision, seen_at) values (${id}, ${revision}, ${now})
        on conflict (id) do update set revision = excluded.revision, seen_at = excluded.seen_at
        where e.revision <> excluded.revision or e.seen_at < ${now - noteSeconds}`,
      /** How many edges ask now, and how many of them have this revision. */
      reached: SqlSchema.findOne({
        Request: Schema.Struct({ now: Schema.Int, revision: Schema.Int }),
        Result: Schema.Struct({ edges: Schema.Int, reached: Schema.Int }),
        execute: ({ now, revision }) => sql`
          select count(*)::int as edges, (count(*) filter (where revision >= ${revision}))::int as reached
          from platform_certificate_edges where seen_at >= ${now - goneSeconds}`
      }),

      account: SqlSchema.findOne({
        Request: Schema.Struct({ directory: Schema.String, key: Schema.String }),
        Result: Schema.Struct({ key: Schema.String, url: Schema.NullOr(Schema.String) }),
        // Of several replicas that make a key the first has made it.
        execute: ({ directory, key }) => sql`
          insert into platform_accounts as a (directory, key) values (${directory}, ${key})
          on conflict (directory) do update set key = a.key returning key, url`
      }),
      registered: (directory: string, url: string) => sql`
        update platform_accounts set url = ${url} where directory = ${directory} and url is distinct from ${url}`,

      pruneEdges: (now: number) => sql`delete from platform_certificate_edges where seen_at < ${now - 86_400}`
    }
  })
