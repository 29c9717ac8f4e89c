import { assert, it } from "@effect/vitest"
import { candidates } from "../../src/tunnel/EdgeConnection.ts"

it("port 443 is tried after the edge's own port, when that is allowed and another one", () => {
  const edge = { host: "edge.example.org", port: 4433 }
  const front = { host: "edge.example.org", port: 443 }
  assert.deepStrictEqual(candidates(edge, false), [edge])
  assert.deepStrictEqual(candidates(edge, true), [edge, front])
  assert.deepStrictEqual(candidates(front, true), [front])
})
