import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeSurroundings, registered } from "@catenet/testing/agent/Surroundings"
import { eventually } from "@catenet/testing/Eventually"
import { writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type Server } from "node:http"
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from "node:http2"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { connect, type TLSSocket } from "node:tls"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { HalfOpenDuplex } from "../../src/tunnel/TlsTermination.ts"

const host = "hello.example"
const seen: Array<IncomingMessage> = []

/** Answers with what it was asked. */
const origin = (): Promise<Server> => {
  const server = createServer((request, response) => {
    seen.push(request)
    if (request.url === "/drop") return void request.socket.destroy()
    if (request.url === "/large") return void response.end(Buffer.alloc(300_000, 7))
    if (request.url === "/odd") return void response.writeHead(200, "fine", { "x-twice": ["1", "2"] }).end("odd")
    if (request.url === "/endless") {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on("drain", more)
      return more()
    }
    const answer = (body: string) => {
      response.setHeader("trailer", "x-length")
      response.setHeader("connection", "x-own, close")
      response.setHeader("x-own", "1")
      response.write(`${request.method} ${request.url} ${body}`)
      response.addTrailers({ "x-length": String(body.length), "x-count": request.trailers["x-count"] ?? "none" })
      response.end()
    }
    void text(request).then(answer, () => undefined)
  })
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
}

const port = (server: Server) => (server.address() as AddressInfo).port

describe("a client that speaks HTTP/2 within the TLS that the agent ends", () => {
  const stack = new AsyncDisposableStack()
  let stage: Awaited<ReturnType<typeof makeSurroundings>>
  let server: Server
  beforeAll(async () => {
    stage = stack.use(await makeSurroundings())
    server = await origin()
    stack.defer(() => void server.close())
    stack.defer(() => server.closeAllConnections())
    const home = stack.use(await makeHome())
    const { cert, key } = stage.authority.leaf(host)
    await writeFile(`${home.path}/fullchain.pem`, cert)
    await writeFile(`${home.path}/privkey.pem`, key)
    const agent = stack.use(
      runAgent(home, {
        ...stage.env,
        CT_AGENT_ORIGIN: `127.0.0.1:${port(server)}`,
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_ACME_CERT_OUT_DIR: home.path
      })
    )
    await registered(agent)
  })
  afterAll(() => stack.disposeAsync())

  const secure = async (alpn: ReadonlyArray<string>) => {
    const socket = connect({
      socket: new HalfOpenDuplex(await stage.edge.open()),
      servername: host,
      ca: stage.authority.pem,
      ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] })
    })
    await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject))
    socket.on("error", () => undefined)
    return socket
  }

  const session = async (alpn: ReadonlyArray<string> = ["h2"]) => {
    const socket = await secure(alpn)
    assert.strictEqual(socket.alpnProtocol, "h2")
    const client = connectHttp2(`https://${host}`, { createConnection: () => socket })
    client.on("error", () => undefined)
    return client
  }

  interface Answer {
    readonly headers: IncomingHttpHeaders
    readonly body: string
    readonly trailers: IncomingHttpHeaders
  }

  const statusOf = ({ headers }: Answer) => Number(headers[":status"])

  const ask = (client: ClientHttp2Session, fields: Record<string, string | Array<string>>, body?: string) =>
    new Promise<Answer>((resolve, reject) => {
      const stream = client.request(fields, { endStream: body === undefined })
      let [headers, trailers]: [IncomingHttpHeaders, IncomingHttpHeaders] = [{}, {}]
      const chunks: Array<Buffer> = []
      stream.on("response", (arrived) => (headers = arrived))
      stream.on("trailers", (arrived: IncomingHttpHeaders) => (trailers = arrived))
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.once("error", reject)
      stream.once("close", () => resolve({ headers, trailers, body: Buffer.concat(chunks).toString() }))
      if (body !== undefined) stream.end(body)
    })

  it("is served where it offers nothing else, with bodies and trailers both ways, and by kept connections", async () => {
    const client = await session()
    const get = await ask(client, { ":path": "/a?b", cookie: "c=1", "x-forwarded-for": "203.0.113.66" })
    assert.strictEqual(get.body, "GET /a?b ")
    assert.strictEqual(statusOf(get), 200)
    for (const name of ["connection", "x-own", "transfer-encoding"]) assert.notProperty(get.headers, name)
    assert.deepInclude(seen.at(-1)?.headers, {
      host: `${host}:443`,
      cookie: "c=1",
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": `${host}:443`,
      forwarded: `for=192.0.2.7;host="${host}:443";proto=https`
    })
    const post = await ask(client, { ":path": "/p", ":method": "POST", te: "trailers" }, "body")
    assert.strictEqual(post.body, "POST /p body")
    assert.deepInclude(post.trailers, { "x-length": "4" })
    assert.deepInclude(seen.at(-1)?.headers, { "transfer-encoding": "chunked", te: "trailers" })
    const odd = await ask(client, { ":path": "/odd" })
    assert.strictEqual(odd.headers["x-twice"], "1, 2")
    const large = await Promise.all(Array.from({ length: 5 }, () => ask(client, { ":path": "/large" })))
    assert.deepStrictEqual(
      large.map(({ body }) => body.length),
      Array.from({ length: 5 }, () => 300_000)
    )
    client.close()
  })

  it("is answered with 502 where the origin breaks off, and goes on", async () => {
    const client = await session()
    assert.strictEqual(statusOf(await ask(client, { ":path": "/drop" })), 502)
    assert.strictEqual(statusOf(await ask(client, { ":path": "/" })), 200)
    client.close()
  })

  it("brings the origin no cookie of the login gate, and no field that only a gate may set", async () => {
    const client = await session()
    const cookie = "a=1; __Host-ct_gate_session=s; ct_gate_session=s; __Host-ct_gate_browser=b; c=2"
    await ask(client, {
      ":path": "/",
      cookie,
      "x-gate-email": "root@victim.example",
      x_gate_email: "root@victim.example"
    })
    const { headers } = seen.at(-1) ?? {}
    assert.strictEqual(headers?.cookie, "a=1; c=2")
    for (const name of ["x-gate-email", "x_gate_email"]) assert.notProperty(headers, name)
    await ask(client, { ":path": "/", cookie: "ct_gate_session=s" })
    assert.notProperty(seen.at(-1)?.headers, "cookie")
    client.close()
  })

  it("cannot say in other words where its request ends or where it goes", async () => {
    const client = await session()
    const before = seen.length
    const refused = [
      { ":method": "CONNECT", ":authority": `${host}:443` },
      { ":path": "/a b" },
      { ":path": "/a\u00a0b" },
      { ":path": "a" },
      { ":path": "*" },
      { ":authority": "user@hello.example" },
      { ":authority": host, host: "other.example" }
    ]
    for (const fields of refused) {
      const answered = await ask(client, fields).catch(() => undefined)
      if (answered !== undefined && answered.headers[":status"] !== undefined)
        assert.include([400, 405, 421], statusOf(answered), JSON.stringify(fields))
    }
    assert.strictEqual(seen.length, before, "the origin has heard of none")
    await ask(client, { ":path": "/", transfer_encoding: "chunked", content_length: "7", expect: "100-continue" })
    const { headers } = seen.at(-1) ?? {}
    for (const name of ["transfer_encoding", "content_length", "expect"]) assert.notProperty(headers, name)
    client.close()
  })

  it("leaves nothing open at the origin of streams that it resets at once", async () => {
    const client = await session()
    for (let i = 0; i < 50; i++) {
      const stream = client.request({ ":path": "/reset" })
      stream.on("error", () => undefined)
      stream.close()
    }
    await ask(client, { ":path": "/after" })
    const reset = () => seen.filter(({ url }) => url === "/reset")
    await eventually(() => reset().every(({ destroyed }) => destroyed), "they have ended")
    client.close()
  })

  it("ends when the client goes away in the middle", async () => {
    const client = await session()
    const stream = client.request({ ":path": "/p", ":method": "POST" })
    stream.on("error", () => undefined)
    stream.write("half")
    await eventually(() => seen.at(-1)?.method === "POST" && seen.at(-1)?.complete === false, "the origin was asked")
    const asked = seen.at(-1)
    client.destroy()
    await eventually(() => asked?.destroyed === true, "the origin sees the end")
  })

  it("is offered what the edge offers: HTTP/2 first, HTTP/1.1, and nothing to who speaks no HTTP", async () => {
    const protocol = async (alpn: ReadonlyArray<string>) => {
      const socket: TLSSocket = await secure(alpn)
      const { alpnProtocol } = socket
      socket.destroy()
      return alpnProtocol
    }
    assert.strictEqual(await protocol(["http/1.1", "h2"]), "h2")
    assert.strictEqual(await protocol(["http/1.1"]), "http/1.1")
    assert.strictEqual(await protocol(["mqtt"]), false)
    assert.strictEqual(await protocol([]), false)
  })

  it("keeps 128 answers that no client reads, and tears those beyond them", async () => {
    const [one, two] = [await session(), await session()]
    const unread = (client: ClientHttp2Session, count: number) =>
      Array.from({ length: count }, () => client.request({ ":path": "/endless" }).on("error", () => undefined))
    const all = [...unread(one, 100), ...unread(two, 48)]
    const torn = () => all.filter(({ closed }) => closed).length
    await eventually(
      () => torn() >= 20,
      () => `20 are torn, not ${torn()}`
    )
    assert.strictEqual(torn(), 20)
    one.destroy()
    two.destroy()
  })

  it("gets 502 while the origin is down", async () => {
    const client = await session()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    const answered = await ask(client, { ":path": "/" })
    assert.strictEqual(statusOf(answered), 502)
    assert.include(answered.body, "This service does not answer")
    client.close()
  })
})
