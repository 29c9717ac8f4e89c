import * as Bytes from "@catenet/crypto/Bytes"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import { assert } from "@effect/vitest"
import { bytes, type Runners, sameHex } from "./runner.ts"

export const channelIds: Runners = {
  link: ({ input, expect, preimage }, suite) => {
    const id = ChannelIds.link(suite, bytes(input.operator_pubkey), bytes(input.holder_a), bytes(input.holder_b))
    sameHex(id, expect.channel)
    if (preimage !== undefined) sameHex(suite.sha256(bytes(preimage)), expect.channel)
  },
  "pipeline-role": ({ input, expect, preimage }, suite) => {
    const id = ChannelIds.pipelineRole(suite, bytes(input.operator_pubkey), input.pipeline_id, input.role)
    sameHex(id, expect.channel)
    if (preimage !== undefined) sameHex(suite.sha256(bytes(preimage)), expect.channel)
  },
  room: ({ input, expect }, suite) => {
    const holders: ReadonlyArray<string> = input.holders
    const channels = holders.flatMap((a, i) =>
      holders.slice(i + 1).map((b) => ({
        a,
        b,
        channel: Hex.encode(ChannelIds.link(suite, bytes(input.operator_pubkey), bytes(a), bytes(b)))
      }))
    )
    assert.deepStrictEqual(channels, expect.channels)
  },
  "topology-edge": ({ input, expect }, suite) => {
    const [a, b] = [bytes(input.edge[0]), bytes(input.edge[1])]
    assert.deepStrictEqual([a, b].sort(Bytes.compare).map(Hex.encode), expect.stored_edge)
    sameHex(ChannelIds.link(suite, bytes(input.operator_pubkey), a, b), expect.channel)
  }
}
