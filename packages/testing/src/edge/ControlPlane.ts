/** A control plane that says what a test wants it to say, over real HTTP. */
import { native } from "@catenet/crypto/native"
import * as Exchange from "@catenet/crypto/TicketKeyRequest"
import { problemType } from "@catenet/domain/values/Problem"
import { Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"

export const adminToken = "ad".repeat(32)

interface Owner {
  readonly edge_id: string
  readonly peer_addr: string
}

export interface ScriptedControlPlane {
  readonly url: string
  readonly revoked: Array<string>
  readonly authorizations: Array<Record<string, unknown>>
  /** How many authorizations it tells at once, at most. */
  page: number
  readonly heartbeats: Array<Record<string, unknown>>
  readonly requests: Array<string>
  /** Keys that the edge saw proved. */
  readonly proved: Array<Record<string, unknown>>
  /** The keys for session tickets that it gives, in hex; 404 while there are none. */
  readonly ticketKeys: Array<{ readonly key: string; readonly from: number }>
  /** Which edge serves a host, or a port such as `tcp/20022`, for look-ups. */
  readonly owners: Map<string, Owner & { readonly others?: ReadonlyArray<Owner> }>
  /** What it answers about every visitor, or about one by its session; 404 while nothing is set. */
  visitor:
    Promise<Record<string, unknown>> | ((session: string | undefined) => Promise<Record<string, unknown>>) | undefined
  /** The sessions that it gives for codes of the login gate; 404 for others. */
  readonly gateCodes: Map<string, string>
  /** The edges that it has heard of. */
  readonly edges: Array<{ readonly edge_id: string; readonly peer_addr: string; live: boolean }>
  /** Members of channels by `<channel> <holder>`, as edges hear of them. */
  readonly members: Map<string, Record<string, string>>
  /** It refuses by the status alone, as a control plane that knows no problem documents does. */
  isOfOtherMake: boolean
  /** While true every call is answered 503. */
  down: boolean
  /** The epoch that it names to an edge that sends a heartbeat. */
  epoch: string | undefined
  /** It names no authorization before this has resolved. */
  restoring: Promise<void> | undefined
  /** It hears and never answers. */
  silent: boolean
  /** Of so many calls from now on it closes the connection, as one does that kept it for long enough. */
  closes: number
}

const read = async (request: AsyncIterable<Buffer>) => {
  let text = ""
  for await (const chunk of request) text += chunk.toString()
  return text
}

export const startControlPlane = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<ScriptedControlPlane & { readonly close: () => void }>((resolve) => {
        const server = createServer(async (request, response) => {
          const body = await read(request)
          plane.requests.push(`${request.method} ${request.url}`)
          const answer = (status: number, value?: unknown) =>
            response
              .writeHead(status, value === undefined ? {} : { "content-type": "application/json" })
              .end(value === undefined ? "" : JSON.stringify(value))
          if (plane.silent) return
          if (plane.closes > 0) {
            plane.closes -= 1
            return request.socket.destroy()
          }
          if (plane.down) return answer(503)
          if (request.headers["x-ct-admin-token"] !== adminToken) return answer(401)
          const { pathname, searchParams } = new URL(request.url ?? "", "http://plane")
          if (pathname === "/internal/revoked-tokens") {
            const from = Number(searchParams.get("cursor") ?? 0)
            const to = from + Math.min(plane.page, Number(searchParams.get("limit")))
            if (to < plane.revoked.length) response.setHeader("link", `<${pathname}?cursor=${to}>; rel="next"`)
            return answer(200, { tokens: plane.revoked.slice(from, to) })
          }
          if (pathname.startsWith("/internal/edges/rehydrate/")) {
            await plane.restoring
            const from = Number(searchParams.get("cursor") ?? 0)
            const to = from + Math.min(plane.page, Number(searchParams.get("limit")))
            if (to < plane.authorizations.length) response.setHeader("link", `<${pathname}?cursor=${to}>; rel="next"`)
            return answer(200, plane.authorizations.slice(from, to))
          }
          if (pathname === "/internal/edges/lookup") {
            const owner = plane.owners.get(searchParams.get("host") ?? searchParams.get("port") ?? "")
            if (owner !== undefined) return answer(200, owner)
            return answer(404, {
              type: problemType("NoLiveEdge"),
              title: "No live edge",
              status: 404,
              detail: "No live edge serves this tunnel.",
              code: "NoLiveEdge"
            })
          }
          if (request.url === "/internal/edges/heartbeat") {
            plane.heartbeats.push(JSON.parse(body))
            if (plane.epoch !== undefined) response.setHeader("x-ct-edge-epoch", plane.epoch)
            return answer(200)
          }
          if (request.url === "/internal/edges/ticket-keys" && plane.ticketKeys.length > 0) {
            const { id, key } = JSON.parse(body)
            const question = { id, message: Buffer.from(key, "hex") }
            const plain = Buffer.from(JSON.stringify(plane.ticketKeys))
            const sealed = Exchange.answer(native, question, Uint8Array.from(randomBytes(32)), plain)
            return answer(200, { sealed: Buffer.from(Result.getOrThrow(sealed)).toString("hex") })
          }
          if (request.url === "/internal/tunnel/agent-proved") {
            plane.proved.push(JSON.parse(body))
            return answer(200)
          }
          if (pathname === "/internal/edges") {
            return answer(
              200,
              plane.edges.map((edge) => ({ ...edge, pubkey: null, seen_at: 1 }))
            )
          }
          if (request.url === "/internal/channel/authorize") {
            const { channel, holder } = JSON.parse(body)
            const member = plane.members.get(`${channel} ${holder}`)
            if (member !== undefined) return answer(200, member)
            if (plane.isOfOtherMake) return answer(404)
            return answer(404, {
              type: problemType("MemberNotAdmitted"),
              title: "Not admitted",
              status: 404,
              detail: "This holder is not admitted to this channel.",
              code: "MemberNotAdmitted"
            })
          }
          if (request.url === "/internal/gate/check" && plane.visitor !== undefined) {
            const { visitor } = plane
            return answer(200, await (typeof visitor === "function" ? visitor(JSON.parse(body).session) : visitor))
          }
          if (request.url === "/internal/gate/redeem") {
            const session = plane.gateCodes.get(JSON.parse(body).code)
            if (session !== undefined) return answer(200, { session, path: "/", seconds: 3_600 })
          }
          return answer(404)
        })
        const plane = {
          url: "",
          revoked: [],
          authorizations: [],
          page: 1000,
          heartbeats: [],
          requests: [],
          proved: [],
          ticketKeys: [],
          owners: new Map(),
          members: new Map(),
          edges: [],
          visitor: undefined,
          gateCodes: new Map(),
          isOfOtherMake: false,
          down: false,
          epoch: undefined,
          restoring: undefined,
          silent: false,
          closes: 0,
          close: () => {
            server.closeAllConnections()
            server.close()
          }
        } as ScriptedControlPlane & { url: string; close: () => void }
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          plane.url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
          resolve(plane)
        })
      })
  ),
  ({ close }) => Effect.sync(close)
)
