/** Valid sessions of everything the edge listens for. The fuzz run mutates them. */
import { encodeMuxFrame } from "@catenet/wire/frames/MuxFrame"
import { adminToken } from "../ControlPlane.ts"
import * as Members from "../Members.ts"
import { token } from "../TestEdge.ts"
import { prototypeNames } from "./PrototypeNames.ts"

export const T = token("1")
/** Served by the agents of the run, while they live. */
export const tunnelHost = "app.zone.test"
/** Served by an agent that answers. */
export const answeringTunnel = { token: token("3"), host: "well.zone.test" }

const routing = Buffer.from(T, "hex")
const ascii = (text: string) => Buffer.from(text, "latin1")
const named = (host: string) => Buffer.concat([Buffer.of(0, host.length), ascii(host)])

/** The byte protocol, every role. */
export const admissions = [
  ...["A", "K"].map((role) => Buffer.concat([ascii(role), routing])),
  ...["B", "L", "F"].flatMap((role) =>
    [tunnelHost, ...prototypeNames].map((host) =>
      Buffer.concat([ascii(role), routing, named(host), ascii("\xfa\0\0\0\0\0\0\0\0\xfc\0\0\0\x01x\xfe")])
    )
  ),
  Buffer.concat([ascii("C"), Buffer.alloc(8), routing, ascii("noise")]),
  Buffer.concat([ascii("M"), Buffer.from(adminToken, "hex"), named(tunnelHost)])
]

/** A member whose joins and whose grants at the gate are mutated; its signature is of another challenge. */
export const joining = Members.member(Members.channel())
const signature = Buffer.from(Members.answer(joining, Buffer.alloc(32, 7)))
export const joins = [
  ...([undefined, 1, 2] as const).map((phase) => Members.joinFrame(joining, { phase })),
  Members.joinFrame(joining, { endpoint: "203.0.113.9:7001" }),
  Buffer.concat([Members.joinFrame(joining), signature, ascii("early")])
]
export const grants = [Buffer.from(joining.grant), Buffer.concat([joining.grant, signature, ascii("early")])]

export const muxSessions = [
  Buffer.concat([
    encodeMuxFrame({ _tag: "Hello", hello: { lowest: 1, version: 1, maxStreams: 8, initialWindow: 65_536 } }),
    encodeMuxFrame({
      _tag: "Register",
      id: 1,
      request: { token: routing, hosts: [tunnelHost], agentId: "fuzz", wishes: { proxyProtocol: false } }
    }),
    encodeMuxFrame({ _tag: "Ping", nonce: 7n })
  ]),
  ...prototypeNames.map((name) =>
    Buffer.concat([
      encodeMuxFrame({ _tag: "Hello", hello: { lowest: 1, version: 1, maxStreams: 8, initialWindow: 65_536 } }),
      encodeMuxFrame({
        _tag: "Register",
        id: 1,
        request: { token: routing, hosts: [name], agentId: name, wishes: { proxyProtocol: false } }
      })
    ])
  )
]

const prototypeFields = prototypeNames.map((name) => `${name}: ${name}\r\n`).join("")

/** What visitors of a gelb host say. */
export const requests = (host: string) => [
  ascii(
    `GET /${prototypeNames.join("/")}?${prototypeNames.join("&")} HTTP/1.1\r\nHost: ${host}\r\n${prototypeFields}\r\n`
  ),
  ...prototypeNames.map((name) => ascii(`${name} /${name} HTTP/1.1\r\nHost: ${name}\r\n${name}: x\r\n\r\n`)),
  ascii(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n`),
  ascii(
    `POST /a HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  ),
  ascii(`POST /a HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 3\r\n\r\nabc`),
  ascii(`GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00`),
  ascii(
    `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00`
  )
]

const jsonOrder = (body: string) =>
  ascii(
    `POST /internal/tunnel/access-policy HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${adminToken}\r\nx-ct-routing-token: ${token("2")}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  )

/** What the control plane says to the admin API. */
export const orders = [
  ascii(`POST /admin/authorize-host/${T}/x.test HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${adminToken}\r\n\r\n`),
  ascii(`GET /admin/tunnel-status/${T} HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${adminToken}\r\n\r\n`),
  ascii(
    `POST /internal/tunnel/access-policy HTTP/1.1\r\nHost: a\r\nx-ct-admin-token: ${adminToken}\r\nx-ct-routing-token: ${token("2")}\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"expires_at":1}`
  ),
  ...prototypeNames.flatMap((name) => [
    ascii(
      `POST /admin/authorize-host/${T}/${name}?${name}=${name} HTTP/1.1\r\nHost: ${name}\r\n${name}: x\r\nx-ct-admin-token: ${adminToken}\r\n\r\n`
    ),
    ascii(`GET /${name}/${name} HTTP/1.1\r\nHost: a\r\n\r\n`),
    jsonOrder(`{"expires_at":null,"schedule":null,"${name}":{"${name}":1}}`)
  ])
]

export const http2Frame = (type: number, flags: number, stream: number, payload: Buffer) =>
  Buffer.concat([Buffer.of(0, payload.length >> 8, payload.length & 0xff, type, flags, 0, 0, 0, stream), payload])

/** The static table's GET or POST, https, "/", then an authority in full (RFC 7541 appendix A). */
export const http2Fields = (method: 0x82 | 0x83, host: string) =>
  Buffer.concat([Buffer.of(method, 0x87, 0x84, 0x41, host.length), ascii(host)])

const literal = (text: string) => Buffer.concat([Buffer.of(text.length), ascii(text)])

/** The same over HTTP/2: two requests, one with a body and trailers, an echo, and a word of leaving. */
export const http2 = (host: string) => [
  Buffer.concat([
    ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    http2Frame(4, 0, 0, Buffer.alloc(0)),
    http2Frame(1, 5, 1, http2Fields(0x82, host)),
    http2Frame(1, 4, 3, http2Fields(0x83, host)),
    http2Frame(0, 0, 3, ascii("abc")),
    http2Frame(1, 5, 3, Buffer.concat([Buffer.of(0, 3), ascii("x-y"), Buffer.of(1), ascii("z")])),
    http2Frame(6, 0, 0, Buffer.alloc(8)),
    http2Frame(7, 0, 0, Buffer.alloc(8))
  ]),
  Buffer.concat([
    ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    http2Frame(4, 0, 0, Buffer.alloc(0)),
    http2Frame(
      1,
      5,
      1,
      Buffer.concat([
        http2Fields(0x82, host),
        ...prototypeNames.map((name) => Buffer.concat([Buffer.of(0), literal(name.toLowerCase()), literal(name)]))
      ])
    )
  ])
]
