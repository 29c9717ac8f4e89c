/** The names under which a gateway's client knows what its peers have, and finds it. */
import { assert, describe, it } from "@effect/vitest"
import * as PeerNames from "../../src/channel/mcp/PeerNames.ts"
import * as ToolSearch from "../../src/channel/mcp/ToolSearch.ts"

describe("the names of a gateway's peers", () => {
  it("are in links to resources too, and one peer's are never another's", () => {
    const link = { type: "resource_link", uri: "note://one", name: "one" }
    const held = { type: "resource", resource: { uri: "note://two", text: "2" } }
    const text = { type: "text", text: "note://three" }
    const answer = PeerNames.answered("desk", {
      result: { content: [link, held, text], messages: [{ role: "user", content: held }], structuredContent: link }
    })
    const moved = { type: "resource", resource: { uri: "catenet://desk/note://two", text: "2" } }
    assert.deepStrictEqual(answer, {
      result: {
        content: [{ ...link, uri: "catenet://desk/note://one" }, moved, text],
        messages: [{ role: "user", content: moved }],
        structuredContent: link
      }
    })
    const uri = { uri: "catenet://desk/note://one" }
    assert.deepStrictEqual(PeerNames.asked("desk", "resources/read", uri), { uri: "note://one" })
    for (const other of ["des", "desk2", "rack"]) assert.isUndefined(PeerNames.asked(other, "resources/read", uri))
    const ref = { type: "ref/prompt", name: "desk.greet" }
    assert.deepStrictEqual(PeerNames.asked("desk", "completion/complete", { ref }), {
      ref: { type: "ref/prompt", name: "greet" }
    })
    assert.isUndefined(PeerNames.asked("desk", "resources/read", { uri: "note://one" }))
  })
})

describe("a search of tools", () => {
  const entries = [
    { name: "a.read_file", description: "Reads a file." },
    { name: "b.write", description: "Writes to a file." },
    { name: "b.weather", description: "Tells the weather." }
  ]
  const named = (query: string) => ToolSearch.find(entries, query).map(({ name }) => name)

  it("puts names before descriptions, leaves out what has none of the words, and answers at most ten", () => {
    assert.deepStrictEqual(named("File"), ["a.read_file", "b.write"])
    assert.deepStrictEqual(named("weather, please"), ["b.weather"])
    assert.deepStrictEqual(named("..."), [])
    const many = Array.from({ length: 50 }, (_, n) => ({ name: `x.${n}`, description: "same" }))
    assert.lengthOf(ToolSearch.find(many, "same"), 10)
    assert.include(JSON.stringify(ToolSearch.answer([], [])), "No tool has these words.")
  })
})
