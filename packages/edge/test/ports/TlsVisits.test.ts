import { readAll, servingAgent, tlsTo } from "@catenet/testing/edge/Agent"
import { start, token } from "@catenet/testing/edge/TestEdge"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"

const owner = token("3")
const host = "db.zone.test"

/** The first output of the program, which gets one line of input. */
const firstLine = (command: string, args: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] })
    let said = ""
    child.stderr.on("data", (data: Buffer) => (said += data.toString()))
    child.stdin.on("error", () => undefined)
    child.stdin.write("ping\n")
    child.stdout.once("data", (data: Buffer) => {
      resolve(data.toString())
      child.kill("SIGKILL")
    })
    child.once("error", reject)
    child.once("close", () => reject(new Error(said)))
  })

const world = Effect.gen(function* () {
  const edge = yield* start({ CT_EDGE_TCP_FALLBACK_DELIVER_WAIT_MS: "100", CT_EDGE_MAX_VISITORS_PER_TUNNEL: "4" })
  const post = (path: string, body: unknown) =>
    Effect.promise(() => edge.admin("POST", path, { headers: { "x-ct-routing-token": owner }, body }))
  yield* post("/internal/tunnel/options", { tls: true })
  yield* Effect.promise(() => edge.authorize(owner, host, "gelb"))
  const dial = (alpn: ReadonlyArray<string> = []) => tlsTo(edge.frontDoor, edge.wildcardRoot, host, alpn)
  /** What the server says first, or nothing. */
  const said = () =>
    dial()
      .then(async (visitor) => {
        const heard = (await readAll(visitor)).toString()
        visitor.end()
        return heard
      })
      .catch(() => "refused")
  return { edge, post, dial, said }
})

describe("a tunnel of kind tcp with TLS", () => {
  it.live(
    "gets what is inside the TLS that the edge ends, both ways to their ends, and its server may speak first",
    () =>
      Effect.gen(function* () {
        const { dial, edge } = yield* world
        const agent = yield* servingAgent(edge, owner, [], (stream) => {
          stream.write("hello ")
          void readAll(stream).then((bytes) => stream.end(`${bytes.length} bytes`))
        })
        const visitor = yield* Effect.promise(() => dial())
        const heard = readAll(visitor)
        visitor.end(Buffer.alloc(1_000_000))
        assert.strictEqual((yield* Effect.promise(() => heard)).toString(), "hello 1000000 bytes")
        const header = agent.streams.at(-1)?.header
        assert.deepInclude(header, { kind: "visitor", tls: "none" })
        assert.strictEqual(header?.client?.address, "127.0.0.1")
        assert.isUndefined(header?.host)
      }).pipe(Effect.scoped)
  )

  it.live("agrees to the first protocol that a client offers, and reads no HTTP", () =>
    Effect.gen(function* () {
      const { dial, edge } = yield* world
      yield* servingAgent(edge, owner, [], (stream) => void stream.pipe(stream))
      for (const offered of [["postgresql"], ["http/1.1", "h2"], ["x", "y"]]) {
        const visitor = yield* Effect.promise(() => dial(offered))
        assert.strictEqual(visitor.alpnProtocol, offered[0])
        const heard = readAll(visitor)
        visitor.end("GET / HTTP/1.1\r\n\r\n")
        assert.strictEqual((yield* Effect.promise(() => heard)).toString(), "GET / HTTP/1.1\r\n\r\n")
      }
      const plain = yield* Effect.promise(() => dial())
      assert.isFalse(plain.alpnProtocol)
      plain.destroy()
    }).pipe(Effect.scoped)
  )

  it.live("is closed by its access window and its rules, before a handshake, and while no agent is connected", () =>
    Effect.gen(function* () {
      const { edge, post, said } = yield* world
      assert.strictEqual(yield* Effect.promise(said), "")
      yield* servingAgent(edge, owner, [], (stream) => void stream.end("in"))
      assert.strictEqual(yield* Effect.promise(said), "in")
      yield* post("/internal/tunnel/rules", [{ allow: ["10.0.0.0/8"] }])
      assert.strictEqual(yield* Effect.promise(said), "refused")
      yield* post("/internal/tunnel/rules", [{ allow: ["127.0.0.0/8"] }])
      assert.strictEqual(yield* Effect.promise(said), "in")
      yield* post("/internal/tunnel/access-policy", { expires_at: 1 })
      assert.strictEqual(yield* Effect.promise(said), "refused")
    }).pipe(Effect.scoped)
  )

  it.live("has places for visitors, of which one address cannot have one too many", () =>
    Effect.gen(function* () {
      const { dial, edge, said } = yield* world
      yield* servingAgent(edge, owner, [], (stream) => void stream.write("in"))
      for (let n = 0; n < 4; n++) {
        const visitor = yield* Effect.promise(() => dial())
        yield* Effect.promise(() => new Promise((resolve) => visitor.once("data", resolve)))
        visitor.write("busy")
        visitor.resume()
      }
      assert.notInclude(yield* Effect.promise(said), "in")
    }).pipe(Effect.scoped)
  )

  it.live("is served to openssl and to Python, which verify its certificate", () =>
    Effect.gen(function* () {
      const { edge } = yield* world
      yield* servingAgent(edge, owner, [], (stream) => void stream.pipe(stream))
      const root = join(edge.folder, "root.pem")
      writeFileSync(root, edge.wildcardRoot)
      const at = `127.0.0.1:${edge.frontDoor}`
      const openssl = ["s_client", "-quiet", "-verify_return_error", "-verify_hostname", host, "-servername", host]
      const python = `import socket,ssl,sys
c=ssl.create_default_context(cafile=sys.argv[1])
s=c.wrap_socket(socket.create_connection(("127.0.0.1",int(sys.argv[2]))),server_hostname=sys.argv[3])
s.sendall(b"ping\\n");print(s.recv(5).decode(),end="")`
      for (const [command, args] of [
        ["openssl", [...openssl, "-CAfile", root, "-connect", at]],
        ["python3", ["-c", python, root, String(edge.frontDoor), host]]
      ] as const)
        assert.strictEqual(yield* Effect.promise(() => firstLine(command, args)), "ping\n", command)
    }).pipe(Effect.scoped)
  )

  it.live("answers a PostgreSQL client that asks for TLS first", () =>
    Effect.gen(function* () {
      const { edge } = yield* world
      const answer = yield* Effect.promise(
        () =>
          new Promise<string>((resolve) => {
            const socket = connect(edge.frontDoor, "127.0.0.1", () =>
              socket.write(Buffer.from("0000000804d2162f", "hex"))
            )
            socket.once("data", (data: Buffer) => {
              socket.destroy()
              resolve(data.toString())
            })
          })
      )
      assert.strictEqual(answer, "S")
    }).pipe(Effect.scoped)
  )
})
