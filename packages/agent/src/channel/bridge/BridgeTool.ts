/**
 * A bridge tool: only the peer whose key the member's operator has configured may call it, and every call is recorded as an
 * event.
 */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import type * as Json from "@catenet/crypto/Json"
import { Effect } from "effect"
import { Events } from "../../observe/Events.ts"
import { type Tool, ToolFailed } from "../rpc/Tool.ts"

export interface BridgeTool {
  readonly name: `bridge/${string}`
  readonly description: string
  readonly isReadOnly: boolean
  readonly answer: (args: Json.Json) => Effect.Effect<Json.Json, ToolFailed>
}

/** Time limit of a call. */
const callBound = "30 seconds"

/** The tools for the peer with this key. */
export const gated = Effect.fn("BridgeTool.gated")(function* (peer: Uint8Array, tools: ReadonlyArray<BridgeTool>) {
  const events = yield* Events
  return tools.map(({ answer, description, isReadOnly, name }): Tool => {
    const refused = new ToolFailed({ reason: `${name}: the caller is not the bridge peer of this agent` })
    const late = new ToolFailed({ reason: `${name}: no answer within ${callBound}` })
    return {
      name,
      description,
      isReadOnly,
      run: (args, { noiseKey }) =>
        Effect.suspend(() =>
          ConstantTime.equal(peer, noiseKey)
            ? Effect.timeoutOrElse(answer(args), { duration: callBound, orElse: () => Effect.fail(late) })
            : Effect.fail(refused)
        ).pipe(Effect.onExit(({ _tag }) => events.record("bridge_call", { tool: name, ok: _tag === "Success" })))
    }
  })
})
