import * as DemoPrompt from "@catenet/crypto/manifest/DemoPrompt"
import { assert, it } from "@effect/vitest"
import * as any from "../arbitraries.ts"
import { runs } from "../suite/arbitraries.ts"

it.prop(
  "the bounds of a number are signed as 64-bit integers in two's complement",
  { n: any.u64 },
  ({ n }) => {
    const [min, max] = [BigInt.asIntN(64, n), 2n ** 63n - 1n]
    const bytes = DemoPrompt.bytes({ system: "", parameters: [{ name: "", type: "int", min, max }], examples: [] })
    const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 20)
    assert.deepStrictEqual([view.getBigInt64(0, true), view.getBigInt64(8, true)], [min, max])
  },
  runs
)
