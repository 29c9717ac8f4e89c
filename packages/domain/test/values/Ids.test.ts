import { ClientIdInPath } from "@catenet/domain/identity/ServiceAccount"
import {
  NetUuidInPath,
  ShareLinkIdInPath,
  TopologyIdInPath,
  TunnelId,
  TunnelIdInPath
} from "@catenet/domain/values/Ids"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const unissued = "0".repeat(32)

describe("an id in a path", () => {
  it.prop(
    "is read from every text; a malformed one becomes an id that is never issued",
    [Schema.String],
    ([text]) => {
      for (const id of [TunnelIdInPath, TopologyIdInPath, NetUuidInPath, ShareLinkIdInPath]) {
        const read = Schema.decodeUnknownSync(id as Schema.Codec<string>)(text)
        assert.strictEqual(read, /^[0-9a-f]{32}$/iu.test(text) ? text.toLowerCase() : unissued)
      }
      assert.strictEqual(Schema.decodeUnknownSync(ClientIdInPath)(text), `sa-${unissued}`)
    },
    { arbitrary: { runs: propertyRuns } }
  )

  it.prop(
    "keeps a real one",
    [TunnelId],
    ([id]) => {
      assert.strictEqual(Schema.decodeUnknownSync(TunnelIdInPath)(id.toUpperCase()), id)
      assert.strictEqual<string>(Schema.decodeUnknownSync(ClientIdInPath)(`sa-${id}`), `sa-${id}`)
    },
    { arbitrary: { runs: propertyRuns } }
  )
})
