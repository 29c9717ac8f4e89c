/** A member as the room knows it: what its grant says, what the control plane says, and where it was seen. */
import type { PeerKeys } from "@catenet/crypto/admission/Acknowledgement"
import type { Phase } from "@catenet/crypto/admission/Join"
import type { Grant } from "@catenet/crypto/Grant"
import type { MemberAuthorization } from "@catenet/wire/channels/BrokerAdmission"

export interface Member {
  /** 64 hex digits, as orders and questions name it. */
  readonly channel: string
  /** 64 hex digits. */
  readonly holder: string
  readonly grant: Grant
  readonly endpoint: string
  readonly phase: Phase | undefined
  readonly authorization: MemberAuthorization
  /** Epoch milliseconds of the control plane's answer. */
  readonly authorizedAt: number
  /** Where it was seen, `ip:port`; absent behind a proxy. */
  readonly observed: string | undefined
  /** Whether it is sent a NUL now and then while it waits, and understands it. */
  readonly keepAlive: boolean
  /** It has no half of a connection to end: one that ends while it waits is gone. */
  readonly closesWhole?: boolean
}

/** What a peer learns of its keys: all or nothing. */
export const keysOf = ({ authorization: { noise }, grant }: Member): PeerKeys | undefined =>
  noise && { noiseKey: noise.key, holder: grant.holder, attestation: noise.attestation }

/** The address without its port. */
export const addressOf = ({ observed }: Member): string | undefined => observed?.slice(0, observed.lastIndexOf(":"))
