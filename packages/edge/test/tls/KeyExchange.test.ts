/** The key exchange of every TLS port of the edge, with OpenSSL 3.5 of Node and, if it is older, with the one of this machine. */
import { mintPair, start, temporaryFolder } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { connect } from "node:tls"
import { promisify } from "node:util"

const host = "portal.example.test"

/** The group of a connection whose client offers these, the most wanted first, with a key for each. */
const agreed = async (port: number, groups: string) => {
  const client = connect({ port, servername: host, rejectUnauthorized: false, ecdhCurve: groups })
  await once(client, "secureConnect")
  const { name } = client.getEphemeralKeyInfo() as { readonly name?: string }
  client.destroy()
  return name
}

/** The same by the program `openssl`, which says nothing of the group before version 3.2 but its size. */
const byOpenssl = async (port: number) => {
  const command = promisify(execFile)("openssl", ["s_client", "-connect", `127.0.0.1:${port}`, "-servername", host])
  command.child.stdin?.end()
  return (await command.catch((error: { readonly stdout: string }) => error)).stdout
}

describe("the ports of the edge", () => {
  it.live("agree keys by X25519MLKEM768 with whoever knows it, in whatever order, and otherwise as before", () =>
    Effect.gen(function* () {
      const pair = mintPair([host])
      const folder = yield* temporaryFolder
      const file = (name: string, content: string) => {
        writeFileSync(join(folder, name), content)
        return join(folder, name)
      }
      const world = yield* start({
        CT_EDGE_PORTAL_HOST: host,
        CT_CP_PROXY_ADDR: "127.0.0.1:1",
        CT_EDGE_PORTAL_CERT: file("portal.pem", pair.cert),
        CT_EDGE_PORTAL_KEY: file("portal-key.pem", pair.key),
        CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
        CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0"
      })
      const { channelBroker: broker, channelRelay: relay } = world.bound
      const ports = {
        "front door, portal": world.frontDoor,
        mesh: world.mesh,
        broker: broker?.port,
        relay: relay?.port
      }
      for (const [name, port = 0] of Object.entries(ports)) {
        const groups = ["auto", "X25519MLKEM768", "X25519:X25519MLKEM768", "X25519", "P-256"]
        const found = yield* Effect.promise(() => Promise.all(groups.map((group) => agreed(port, group))))
        const hybrid = "X25519MLKEM768"
        assert.deepStrictEqual(found, [hybrid, hybrid, hybrid, "X25519", "prime256v1"], name)
        assert.match(yield* Effect.promise(() => byOpenssl(port)), /Server Temp Key: X25519|MLKEM768/, name)
      }
    }).pipe(Effect.scoped)
  )
})
