import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { joinToken, makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { assert, describe, it } from "vitest"
import { echo, startOrigin } from "../harness/Origins.ts"

describe("an agent that has no descriptor left", () => {
  it("advises to raise the limit of open files, not to start the service", async () => {
    await using home = await makeHome()
    await using surroundings = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using agent = runAgent(
      home,
      { ...surroundings.env, CT_AGENT_JOIN_TOKEN: joinToken, CT_AGENT_ORIGIN: `127.0.0.1:${origin.port}` },
      [],
      "",
      "-n 64"
    )
    await registered(agent)
    const streams = await Promise.all(
      Array.from({ length: 80 }, async () => {
        const stream = await surroundings.edge.open()
        stream.on("error", () => {})
        stream.write("held")
        return stream
      })
    )
    const line = await agent.said("limit of open files")
    assert.include(line, "EMFILE")
    assert.include(line, "LimitNOFILE=")
    assert.notInclude(line, "Start the local service")
    for (const stream of streams) stream.destroy()
  })
})
