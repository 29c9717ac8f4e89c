/**
 * The agent bridge: the deployment's own identity on channels, which an owner may let onto the channel of a tunnel's
 * agent. Without configured keys every method fails. A grant's signature and expiry are checked when it is used.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import type { Caller } from "@catenet/domain/api/Access"
import { BridgeState } from "@catenet/domain/api/BridgeApi"
import { ChannelId, Grant, MemberMaterial } from "@catenet/domain/channels/Channel"
import { BridgeCallFailed, BridgeGrantMissing, BridgeNotConfigured } from "@catenet/domain/channels/ChannelErrors"
import type { GrantMismatch, GrantUndecodable } from "@catenet/domain/channels/ChannelErrors"
import type { BridgeMode } from "@catenet/domain/tunnels/Tunnel"
import { TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { HolderKey } from "@catenet/domain/values/Keys"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { PgTypes } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { Sealing } from "../store/Sealing.ts"
import { inTransaction, sqlOrDie } from "../store/SqlOrDie.ts"
import { LoginOrders } from "../tunnels/LoginOrders.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"
import { BridgeDialer } from "./BridgeDialer.ts"
import * as Probe from "./BridgeProbe.ts"
import { Channels } from "./Channels.ts"
import { requireGrantFor } from "./GrantBinding.ts"
import { Members } from "./Members.ts"

/** The table of bridges: the grant that lets the deployment onto a tunnel's channel, and the last answer of its agent. */
const makeBridgeStore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const sealing = yield* Sealing
  return {
    find: SqlSchema.findOneOption({
      Request: Schema.String,
      Result: Schema.Struct({ channel: ChannelId, grantHex: sealing.column("bridges.grant_hex", Grant) }),
      execute: (tunnelId) => sql`select channel, grant_hex from bridges where tunnel_id = ${tunnelId}`
    }),
    put: (tunnelId: string, channel: string, grant: string) => {
      const grantHex = sealing.seal("bridges.grant_hex", grant)
      return sql`
        insert into bridges ${sql.insert({ tunnelId, channel, grantHex })}
        on conflict (tunnel_id) do update set ${sql.update({ channel, grantHex })}`
    },
    /** Sets the mode; a bridge that is on switches the tunnel's login on. A row, where the tunnel is there. */
    setMode: (tunnelId: string, mode: string) =>
      sql`update tunnels set bridge_mode = ${mode}, require_login = require_login or ${mode !== "off"} where id = ${tunnelId}
        returning 1`,
    /** Stores a probe; what its answer leaves out stays as it was. */
    remember: (tunnelId: string, { agentVersion, readiness }: Probe.Probe, probedAt: number) =>
      sql`update bridges set ${sql.update({
        probedAt,
        ...(agentVersion === undefined ? {} : { agentVersion }),
        ...(readiness === undefined ? {} : { readiness: PgTypes.jsonb(readiness) })
      })} where tunnel_id = ${tunnelId}`,
    transaction: sql.withTransaction
  }
})

type Account = Caller["Service"]

const holderFrom = Schema.decodeSync(HolderKey)
const materialFrom = Schema.decodeSync(MemberMaterial)

const dependencies = Effect.gen(function* () {
  const store = yield* makeBridgeStore
  const tunnels = yield* Tunnels
  const channels = yield* Channels
  const members = yield* Members
  const audits = yield* Audits
  const logins = yield* LoginOrders
  const dial = yield* BridgeDialer
  const { bridgeHolderKey, bridgeNoiseKey } = yield* Settings

  const identity =
    bridgeHolderKey === undefined || bridgeNoiseKey === undefined
      ? undefined
      : {
          seed: bridgeHolderKey,
          holder: holderFrom(Hex.encode(native.ed25519.publicKey(Redacted.value(bridgeHolderKey)))),
          noiseKey: native.x25519.publicKey(Redacted.value(bridgeNoiseKey))
        }
  const configured = Effect.suspend(() =>
    identity === undefined ? Effect.fail(new BridgeNotConfigured()) : Effect.succeed(identity)
  )
  return { audits, channels, configured, dial, identity, logins, members, store, tunnels }
})
type State = Effect.Success<typeof dependencies>

const memberOf = ({ holder, noiseKey, seed }: NonNullable<State["identity"]>, channel: ChannelId) =>
  materialFrom({
    holder,
    noise_pubkey: Hex.encode(noiseKey),
    noise_attestation: Hex.encode(NoiseAttestation.sign(native, seed, { channel: bytesOf(channel), noiseKey }))
  })

const get = Effect.fn("Bridges.get")(function* ({ configured, store, tunnels }: State, account: Account, id: string) {
  const { holder, noiseKey } = yield* configured
  const { bridgeMode } = yield* tunnels.owned(id, account)
  const found = yield* store.find(id)
  const state = {
    mode: bridgeMode,
    channel: Option.isSome(found) ? found.value.channel : null,
    bridge_holder: holder,
    bridge_noise_pubkey: Hex.encode(noiseKey)
  }
  return yield* Schema.decodeEffect(BridgeState)(state)
}, sqlOrDie)

const setMode = Effect.fn("Bridges.setMode")(function* (
  { audits, logins, store, tunnels }: State,
  account: Account,
  id: string,
  mode: BridgeMode
) {
  yield* tunnels.owned(id, account)
  if ((yield* store.setMode(id, mode)).length === 0) return yield* new TunnelNotFound()
  yield* logins.tunnelChanged(id)
  yield* audits.append(audit("tunnel_bridge_mode_set", account.subject, id, mode))
}, inTransaction)

const admit = Effect.fn("Bridges.admit")(function* ({ configured, tunnels }: State, account: Account, id: string) {
  yield* configured
  yield* tunnels.owned(id, account)
})

const storeGrant = Effect.fn("Bridges.storeGrant")(function* (
  state: State,
  account: Account,
  id: string,
  { channel, grant }: { readonly channel: ChannelId; readonly grant: Grant }
) {
  const bridge = yield* state.configured
  yield* Effect.fromResult(requireGrantFor({ channel, holder: bridge.holder }, grant))
  const keep = Effect.gen(function* () {
    yield* state.tunnels.owned(id, account)
    yield* state.store.put(id, channel, grant.toLowerCase())
    yield* state.audits.append(audit("tunnel_bridge_granted", account.subject, id, channel))
  })
  const join = state.members.put(account.subject, channel, memberOf(bridge, channel))
  yield* state.channels
    .command(account, channel, Effect.andThen(keep, join))
    .pipe(Effect.catchTag("NotChannelOwner", () => state.store.transaction(keep)))
}, sqlOrDie)

const call = Effect.fn("Bridges.call")(function* (
  { configured, dial, store, tunnels }: State,
  account: Account,
  id: string,
  request: { readonly tool: string; readonly arguments?: Schema.Json }
) {
  yield* configured
  yield* tunnels.owned(id, account)
  const found = yield* store.find(id)
  if (Option.isNone(found)) return yield* new BridgeGrantMissing()
  const { channel, grantHex: grant } = found.value
  const { tool } = request
  const result = yield* Effect.mapError(
    dial({ channel, grant, tool, arguments: request.arguments ?? {} }),
    ({ why }) => new BridgeCallFailed({ reason: why })
  )
  if (Probe.tools.has(tool)) yield* store.remember(id, Probe.of(result), yield* unixSeconds)
  return { result }
}, sqlOrDie)

export class Bridges extends Context.Service<
  Bridges,
  {
    /** The state of a tunnel's bridge, and the keys that a grant has to name. */
    readonly get: (account: Account, id: string) => Effect.Effect<BridgeState, BridgeNotConfigured | TunnelNotFound>
    /** Switching the bridge on switches the tunnel's login requirement on. */
    readonly setMode: (account: Account, id: string, mode: BridgeMode) => Effect.Effect<void, TunnelNotFound>
    /** Fails without a bridge, and for a tunnel that is not the caller's; a handler asks this before it reads a grant. */
    readonly admit: (account: Account, id: string) => Effect.Effect<void, BridgeNotConfigured | TunnelNotFound>
    /**
     * Stores a grant for the bridge. Where the caller owns the channel, the bridge becomes a member of it too; in a channel
     * of another account, the broker decides when the bridge calls.
     */
    readonly storeGrant: (
      account: Account,
      id: string,
      deposit: {
        readonly channel: ChannelId
        readonly grant: Grant
      }
    ) => Effect.Effect<void, BridgeNotConfigured | GrantMismatch | GrantUndecodable | LimitReached | TunnelNotFound>
    /** Calls one tool of the agent behind a tunnel. A successful probe is stored for the fleet page. */
    readonly call: (
      account: Account,
      id: string,
      request: {
        readonly tool: string
        readonly arguments?: Schema.Json
      }
    ) => Effect.Effect<
      { readonly result: Schema.Json },
      BridgeCallFailed | BridgeGrantMissing | BridgeNotConfigured | TunnelNotFound
    >
  }
>()("server/channels/Bridges") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { get, setMode, admit, storeGrant, call })
  }))

  static readonly layer = Layer.effect(Bridges, Bridges.make).pipe(
    Layer.provide([Audits.layer, Channels.layer, LoginOrders.layer, Members.layer, Tunnels.layer])
  )
}
