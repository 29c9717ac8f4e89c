/** What the environment says of channels. */
import type * as Reader from "@catenet/config/Reader"
import type { channelVariables } from "./ChannelVariables.ts"

export interface ChannelSettings {
  /** Connections of members at once. */
  readonly brokerConnections: number
  /** How long members wait where the connection is kept alive. */
  readonly keepAliveParkSeconds: number
  /** Members must not advertise an address that contradicts where they are seen. */
  readonly requireAttestedEndpoint: boolean
}

/** `share` gives the part of one process. */
export const channelSettings = (
  values: Reader.Values<typeof channelVariables>,
  share: (bound: number) => number
): ChannelSettings => ({
  brokerConnections: share(values.channelBroker),
  keepAliveParkSeconds: values.keepAliveParkSeconds,
  requireAttestedEndpoint: values.requireAttestedEndpoint
})
