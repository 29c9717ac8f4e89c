/**
 * The orders of the control plane between the processes of one edge: those of `EdgeOrder`, each with its token. Tokens (64 hex
 * digits), keys and hosts are plain text, already validated by the process that received the order. A host that an agent bound by
 * itself is normalized, but need not be one that the control plane would assign.
 */
import type { Tier } from "@catenet/domain/edges/EdgeNode"
import { edgeOrderFields } from "@catenet/domain/edges/EdgeOrder"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Schema } from "effect"

const token = Schema.String

export const RouteOrder = Schema.TaggedUnion({
  AuthorizeHost: {
    ...edgeOrderFields.AuthorizeHost,
    token,
    hostname: Schema.String,
    account: Schema.optionalKey(Schema.String)
  },
  ReleaseHost: { token, hostname: Schema.String },
  SetOptions: { ...edgeOrderFields.SetOptions, token },
  SetLogin: { ...edgeOrderFields.SetLogin, token },
  SetPort: { ...edgeOrderFields.SetPort, token },
  Revoke: { ...edgeOrderFields.Revoke, token, successor: Schema.optionalKey(Schema.String) },
  SetAgentKeys: { ...edgeOrderFields.SetAgentKeys, token, keys: Schema.Array(Schema.String) },
  SetAccessPolicy: { ...edgeOrderFields.SetAccessPolicy, token },
  SetRules: { ...edgeOrderFields.SetRules, token },
  /** Members of channels are in the main process; the others drop their cached answers. */
  CutMembers: {
    channel: Schema.String,
    holder: Schema.optionalKey(Schema.String),
    keeps: Schema.optionalKey(Schema.String)
  },
  /** Report all counters at once. Sent by the main process itself. */
  Report: {}
})
export type RouteOrder = typeof RouteOrder.Type

export const authorizeHost = (
  hostname: string,
  {
    account,
    admissionUntil,
    tier,
    token
  }: {
    readonly token: string
    readonly tier: Tier
    readonly admissionUntil: number | null
    readonly account?: string | undefined
  },
  requireLogin?: boolean
): RouteOrder => ({
  _tag: "AuthorizeHost",
  hostname,
  token,
  tier,
  ...(account === undefined ? {} : { account }),
  ...(admissionUntil === null ? {} : { admissionUntil: UnixSeconds.make(admissionUntil) }),
  ...(requireLogin === undefined ? {} : { requireLogin })
})
