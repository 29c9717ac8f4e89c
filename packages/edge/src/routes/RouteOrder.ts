/**
 * The orders of the control plane as the processes of one edge pass them on: those of `EdgeOrder`, each with its token. Tokens
 * (64 hex digits), keys and hosts travel in plain, checked by the process that took the order; a host that an agent bound by
 * itself is in normal form and may be one that the control plane would not give.
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
  SetOptions: { ...edgeOrderFields.SetOptions, token },
  SetLogin: { ...edgeOrderFields.SetLogin, token },
  Revoke: { ...edgeOrderFields.Revoke, token, successor: Schema.optionalKey(Schema.String) },
  SetAgentKeys: { ...edgeOrderFields.SetAgentKeys, token, keys: Schema.Array(Schema.String) },
  SetAccessPolicy: { ...edgeOrderFields.SetAccessPolicy, token },
  /** Members of channels wait and talk in the main process; the others forget what was said of them. */
  CutMembers: {
    channel: Schema.String,
    holder: Schema.optionalKey(Schema.String),
    keeps: Schema.optionalKey(Schema.String)
  },
  /** Report at once what has been counted. This one comes from the main process itself. */
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
