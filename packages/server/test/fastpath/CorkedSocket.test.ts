import { assert, it } from "@effect/vitest"
import { Redacted } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import * as CorkedSocket from "../../src/fastpath/CorkedSocket.ts"

const addressOf = (url: string) => CorkedSocket.addressOf(Redacted.make(url))

it("what a busy connection says in one turn leaves in few packets, in order, and nothing is lost", async () => {
  const server = createServer().listen(0, "127.0.0.1")
  try {
    await once(server, "listening")
    const address = addressOf(`postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/d`)
    assert(address !== undefined)
    const client = CorkedSocket.open(address)
    const [peer] = (await once(server, "connection")) as [Socket]
    const packets: Array<string> = []
    peer.setEncoding("utf8").on("data", (text: string) => packets.push(text))
    const received = async (text: string) => {
      while (packets.join("") !== text) await once(peer, "data")
    }
    const said = Array.from({ length: 20 }, (_, n) => `${n};`)
    for (const text of said) client.write(text)
    await received(said.join(""))
    packets.length = 0
    for (const text of said) client.write(Buffer.from(text))
    await received(said.join(""))
    assert.isAtMost(packets.length, 3)
    await turn()
    packets.length = 0
    client.write("alone", () => client.end())
    await received("alone")
    await once(peer, "close")
  } finally {
    server.close()
  }
})

it("leaves servers alone that a URL names by a path or a parameter", () => {
  assert.isUndefined(addressOf("postgres:///d?host=/run/postgresql"))
  assert.isUndefined(addressOf("postgres://%2Frun%2Fpostgresql/d"))
  assert.isUndefined(addressOf("postgres://a.example.test/d?port=6432"))
  assert.deepStrictEqual(addressOf("postgres://u@[::1]/d"), { host: "::1", port: 5432 })
})
