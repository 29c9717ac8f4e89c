/**
 * How the deployment reaches an agent over a channel. The program that has channel carriers provides the dialer; without one
 * every call fails.
 */
import type { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { Context, Data, Effect, type Schema } from "effect"

/** The agent was not reached, or refused the call. `why` ends a sentence. */
export class BridgeDialFailed extends Data.TaggedError("BridgeDialFailed")<{ readonly why: string }> {}

/** One call of one tool, under a grant whose signature and expiry the channel's broker checks. */
export interface BridgeCall {
  readonly channel: ChannelId
  readonly grant: Grant
  readonly tool: string
  readonly arguments: Schema.Json
}

export type Dial = (call: BridgeCall) => Effect.Effect<Schema.Json, BridgeDialFailed>

export const BridgeDialer = Context.Reference<Dial>("server/BridgeDialer", {
  defaultValue: () => () => Effect.fail(new BridgeDialFailed({ why: "this program has no channel carriers" }))
})
