/** Clients that take their time: they say nothing, or one byte a second, and mean to go on for ever. */
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"

interface Client {
  readonly name: string
  /** What it says at once; it never comes to the end of what it announces. */
  readonly start: string
  /** Seconds after which the server must have let go of it: its own limit, and its rounds of looking. */
  readonly within: number
}

const clients: ReadonlyArray<Client> = [
  { name: "says nothing", start: "", within: 30 },
  { name: "says its headers slowly", start: "GET /status HTTP/1.1\r\nhost: a\r\nx: ", within: 30 },
  {
    name: "says its body slowly",
    start:
      "POST /bootstrap/redeem HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{",
    within: 60
  },
  {
    name: "says its chunks slowly",
    start:
      "POST /bootstrap/redeem HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n3e7\r\n{",
    within: 60
  }
]

const patience = ({ name, start, within }: Client) =>
  Effect.flatMap(TestServer.baseUrl, (url) =>
    Effect.callback<void>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(start))
      const speaking = setInterval(() => void (start !== "" && socket.write("x")), 1000)
      let answer = ""
      socket.setEncoding("latin1").on("data", (text: string) => (answer += text))
      socket.on("error", () => {})
      socket.on("close", () => {
        clearInterval(speaking)
        assert.match(answer, /^(?:HTTP\/1\.1 4\d\d [^]*)?$/, name)
        resume(Effect.void)
      })
      return Effect.sync(() => (clearInterval(speaking), socket.destroy()))
    }).pipe(
      Effect.timeoutOrElse({ duration: `${within} seconds`, orElse: () => Effect.die(`who ${name} is still there`) })
    )
  )

/** Done when the server has let go of all of them. */
export const all = Effect.forEach(clients, patience, { concurrency: "unbounded", discard: true })
