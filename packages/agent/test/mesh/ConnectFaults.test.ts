/** What a fault of one session does to a client of mesh tunnels. */
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it } from "vitest"
import { ask, connectArgs, meshEnv, portOf } from "../harness/MeshClients.ts"
import { echo, startOrigin } from "../harness/Origins.ts"

describe("connect", () => {
  it("ends the session of a fault and no other, and logs one fault a minute", async () => {
    await using stage = await makeSurroundings()
    await using origin = await startOrigin(echo)
    await using home = await makeHome()
    await using agent = runAgent(home, meshEnv(stage, home.path, origin.address))
    await registered(agent)
    await using client = runAgent(
      home,
      {
        CT_AGENT_CP_URL: stage.plane.url,
        NODE_OPTIONS: `--import ${new URL("../harness/Inject.ts", import.meta.url)}`
      },
      connectArgs(home.path, "--listen", "127.0.0.1:0")
    )
    const port = await portOf(client)
    const bystander = connect({ port, host: "127.0.0.1" })
    const says = async (words: string) => {
      bystander.write(words)
      const [answer] = await once(bystander, "data")
      assert.strictEqual(String(answer), words)
    }
    await says("hello")
    for (let n = 0; n < 3; n++) {
      const failing = connect({ port, host: "127.0.0.1" }).on("error", () => {})
      failing.write("fail at the client")
      await new Promise((resolve) => failing.once("close", resolve))
      await says(`still here ${n}`)
    }
    await says("fail in a timer")
    await says("and after that")
    assert.strictEqual(await ask(port, "a new one"), "a new one")
    assert.lengthOf(
      client.lines.filter((line) => line.includes("a callback of a connection failed")),
      1
    )
    bystander.destroy()
    client.kill()
    assert.strictEqual(await client.exited, 0)
  })

  for (const signal of ["SIGTERM", "SIGINT"] as const)
    it(`ends with 0 at ${signal}, as all of the program does`, async () => {
      await using stage = await makeSurroundings()
      await using home = await makeHome()
      await using agent = runAgent(home, meshEnv(stage, home.path, "127.0.0.1:1"))
      await registered(agent)
      const env = { CT_AGENT_CP_URL: stage.plane.url }
      await using client = runAgent(home, env, connectArgs(home.path, "--listen", "127.0.0.1:0"))
      await portOf(client)
      client.kill(signal)
      assert.strictEqual(await client.exited, 0)
    })
})
