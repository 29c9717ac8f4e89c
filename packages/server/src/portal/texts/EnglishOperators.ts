/** The operators' page, in English. */
import type { Limited } from "@catenet/domain/identity/AccountLimits"
import { numerals } from "./Numerals.ts"
import type { TextsOf } from "./TextsOf.ts"

const figure = numerals.en.count

export const operatorsTexts = {
  operators: "Operators",
  operatorsTitle: "The platform",
  operatorsLead: "Edges, orders that were refused, limits, certificates and the audit log of all accounts.",
  edgesTitle: "Edges",
  edgesNone: "No edge has sent a heartbeat.",
  edgeAddress: "Address",
  edgeSeen: "Last heartbeat",
  edgeHealthTitle: "Health",
  edgeHealth: {
    healthy: "healthy",
    silent: "does not respond",
    unasked: "cannot be checked from here",
    gone: "sends no heartbeat"
  },
  edgeStalled: (loops: string) => `stopped: ${loops}`,
  ordersTitle: "Refused orders",
  ordersNone: "No order was refused.",
  orderTunnel: "Tunnel",
  orderTunnelGone: "no longer there",
  orderEdge: "Edge",
  orderWhy: "Reason",
  orderAgain: "Resend",
  orderResend: (id: string) => `Send order ${id} again`,
  limitsTitle: "Accounts with limits of their own",
  limitsNone: "No account has a limit of its own.",
  limitsText: (usual: Readonly<Record<Limited, number>>) =>
    `Every other account may have ${figure(usual.tunnels)} tunnels, of them ${figure(usual.ports)} with a public port and ${figure(usual.hosts)} with a host name of its own, ${figure(usual.channels)} channels and ${figure(usual.rules)} rules.`,
  limits: {
    tunnels: "Tunnels",
    channels: "Channels",
    ports: "Public ports",
    hosts: "Own host names",
    rules: "Rules"
  } satisfies Record<Limited, string>,
  limitUsed: (tunnels: number) => `${figure(tunnels)} in use`,
  limitWhat: "Limit of",
  limitMax: "At most",
  limitMaxHint: "Empty: as every other account.",
  limitSet: "Set limit",
  queueTitle: "Certificate queue",
  queueNone: "No name is waiting for a certificate.",
  queueState: "State",
  queueStates: { queued: "waiting since", offered: "offered until", lapsed: "offer lapsed, waiting again from" },
  queueAt: "When",
  queueAuthority: "Authority",
  queueLapses: "Lapsed offers",
  logTitle: "Audit log",
  logActor: "Who",
  logOlder: "Older entries"
}

export type OperatorsTexts = TextsOf<typeof operatorsTexts>
