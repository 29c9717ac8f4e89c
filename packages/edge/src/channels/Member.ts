/** A member in the room: its grant, the control plane's answer and its observed address. */
import type { PeerKeys } from "@catenet/crypto/admission/Acknowledgement"
import type { Phase } from "@catenet/crypto/admission/Join"
import type { Grant } from "@catenet/crypto/Grant"
import type { MemberAuthorization } from "@catenet/wire/channels/BrokerAdmission"

export interface Member {
  /** 64 hex digits, as in orders and requests. */
  readonly channel: string
  /** 64 hex digits. */
  readonly holder: string
  readonly grant: Grant
  readonly endpoint: string
  readonly phase: Phase | undefined
  /** The key exchanges that it offers its peer. */
  readonly offer?: string
  readonly authorization: MemberAuthorization
  /** Epoch milliseconds of the control plane's answer. */
  readonly authorizedAt: number
  /** Observed address `ip:port`; undefined behind a proxy. */
  readonly observed: string | undefined
  /** Whether it understands the NUL bytes that are sent while it waits. */
  readonly keepAlive: boolean
  /** Its connection cannot be half-closed: one that ends while it waits is gone. */
  readonly closesWhole?: boolean
}

/** The keys that a peer learns: all or none. */
export const keysOf = ({ authorization: { noise }, grant }: Member): PeerKeys | undefined =>
  noise && { noiseKey: noise.key, holder: grant.holder, attestation: noise.attestation }

/** The address without its port. */
export const addressOf = ({ observed }: Member): string | undefined => observed?.slice(0, observed.lastIndexOf(":"))
