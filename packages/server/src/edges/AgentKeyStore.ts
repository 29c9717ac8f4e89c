/** The keys that may serve tunnels, and the grants through which some of them were enrolled. */
import { AgentProof } from "@catenet/domain/edges/TunnelOptions"
import { PublicKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema, type Statement } from "effect/sql"

/** Whether agent `a` was enrolled for tunnel `t` by name, in the words that the index has. */
const isNamed = (sql: SqlClient.SqlClient) => sql`(a.tunnel <> '' and a.tunnel = t.id)`

/**
 * Whether edges know the keys of tunnel `t`: an agent was enrolled for it by name, or has proved a key. A scalar look-up, because
 * for a list of tunnels `exists` reads all agents there are.
 */
const isKnown = (sql: SqlClient.SqlClient) => sql`
  (t.agent_proved_at is not null or (select 1 from agents a where ${isNamed(sql)} limit 1) is not null)`

/** The keys of agents that may serve tunnel `t`: those enrolled for it, and those enrolled for any of its owner's. */
export const keysOf = (sql: SqlClient.SqlClient) => sql`array(
  select distinct a.pubkey from agents a
  where ${isNamed(sql)} or (a.tunnel = '' and a.tenant = t.subject) order by a.pubkey)`

/** The keys of tunnel `t` as edges know them: none where the token alone decides. */
export const knownKeys = (sql: SqlClient.SqlClient) =>
  sql`case when ${isKnown(sql)} then ${keysOf(sql)} else '{}'::text[] end`

/** Whether the agents of tunnel `t` have to prove a key. */
export const proofOf = (sql: SqlClient.SqlClient) => sql`
  case when t.allow_unproved_agents then 'lifted' when t.agent_proved_at is not null then 'required' else 'optional' end`

/**
 * The name by which edges know the account whose shares tunnel `t` uses: a hash, so that no subject or e-mail address leaves the
 * database.
 */
export const accountName = (sql: SqlClient.SqlClient) =>
  sql`encode(sha256(convert_to('account ' || quota_subject(t.subject), 'UTF8')), 'hex')`

const Ordered = Schema.Struct({ routingToken: RoutingToken, keys: Schema.Array(PublicKey), proof: AgentProof })
/** A tunnel with what its edges have to know. */
export type Ordered = typeof Ordered.Type

const Enrolled = Schema.Struct({ tenant: Schema.String, tunnel: Schema.String })
const Holder = Schema.Struct({ id: Schema.String, keys: Schema.Array(PublicKey) })
const Proved = Schema.Struct({ token: RoutingToken, key: PublicKey, now: Schema.Int })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /**
   * The rows stay locked, so that the token that an order goes to is still the tunnel's when the order is written, and one
   * enrollment after the other writes its order. They are read after they are locked: a statement that waits for a lock
   * reads other tables as of before the wait, and would leave out the key of who was first.
   */
  const ordered = (of: Statement.Fragment, where: Statement.Fragment = sql`true`) =>
    Effect.andThen(
      sql`select 1 from tunnels t where ${of} order by t.id for no key update`,
      sql`select t.routing_token, ${knownKeys(sql)} as keys, ${proofOf(sql)} as proof from tunnels t
        where ${of} and ${where} order by t.id`
    )
  return {
    /** What edges have to know of these tunnels. */
    orders: SqlSchema.findAll({
      Request: Schema.Array(Schema.String),
      Result: Ordered,
      execute: (ids) => ordered(sql`t.id = any(${ids}::text[])`)
    }),
    /** The tunnels that an enrollment touches and whose keys edges know. */
    ordersAfter: SqlSchema.findAll({
      Request: Enrolled,
      Result: Ordered,
      execute: ({ tenant, tunnel }) =>
        ordered(sql`t.subject = ${tenant} and (${tunnel} = '' or t.id = ${tunnel})`, isKnown(sql))
    }),
    /** Records that an enrolled agent has proved its key. Answers the tunnel to the call that recorded it. */
    prove: SqlSchema.findOneOption({
      Request: Proved,
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ key, now, token }) => sql`
        update tunnels t set agent_proved_at = ${now}
        where t.routing_token = ${token} and t.agent_proved_at is null and ${key} = any(${keysOf(sql)}) returning t.id`
    }),
    /** The keys one of which agents with this token have to prove; nothing where the token is enough, or is none. */
    demanded: SqlSchema.findOneOption({
      Request: RoutingToken,
      Result: Schema.Struct({ keys: Schema.Array(PublicKey) }),
      execute: (token) => sql`
        select ${keysOf(sql)} as keys from tunnels t where t.routing_token = ${token} and ${proofOf(sql)} = 'required'`
    }),
    /** The tunnel that has this token now, and the keys of its agents. */
    holders: SqlSchema.findOneOption({
      Request: RoutingToken,
      Result: Holder,
      execute: (token) => sql`select t.id, ${keysOf(sql)} as keys from tunnels t where t.routing_token = ${token}`
    }),
    /** Holds grants: a redemption through one of them has ended before, or finds none afterwards. */
    holdGrants: (grantee: string, tunnel: string | null) => sql`
      select 1 from tunnel_grants where grantee = ${grantee} and (${tunnel}::text is null or tunnel_id = ${tunnel})
      order by tunnel_id for update`,
    /**
     * Ends grants with the keys and join tokens that hang on them. Says for which tunnels a key went, and which need another
     * routing token: those whose grantee was shown it, unless the owner lets agents in that could not ask for the new one.
     */
    endGrants: SqlSchema.findAll({
      Request: Schema.Struct({ grantee: Schema.String, tunnel: Schema.NullOr(Schema.String) }),
      Result: Schema.Struct({ tunnelId: Schema.String, enrolled: Schema.Boolean, replaces: Schema.Boolean }),
      execute: ({ grantee, tunnel }) => sql`
        delete from tunnel_grants g where grantee = ${grantee} and (${tunnel}::text is null or tunnel_id = ${tunnel})
        returning tunnel_id,
          exists (select 1 from agents a where a.tunnel = g.tunnel_id and a.grantee = g.grantee) as enrolled,
          knows_token and exists (select 1 from tunnels t where t.id = g.tunnel_id and not t.allow_unproved_agents)
            as replaces`
    }),
    holdTunnels: (ids: ReadonlyArray<string>) =>
      sql`select 1 from tunnels where id = any(${ids}::text[]) order by id for update`,
    /** The routing token that a tunnel has now, by that or a former one, and the keys one of which has to be proved. */
    successor: SqlSchema.findOneOption({
      Request: RoutingToken,
      Result: Schema.Struct({ routingToken: RoutingToken, keys: Schema.Array(PublicKey) }),
      execute: (token) => sql`
        select t.routing_token, ${keysOf(sql)} as keys from tunnels t where t.id = (
          select id from tunnels where routing_token = ${token}
          union all select tunnel_id from revoked_tokens where routing_token = ${token} limit 1)`
    }),
    transaction: sql.withTransaction
  }
})

export class AgentKeyStore extends Context.Service<AgentKeyStore>()("server/edges/AgentKeyStore", { make }) {
  static readonly layer = Layer.effect(AgentKeyStore, AgentKeyStore.make)
}
