/**
 * A client's connection to a service with routes. Its requests, in HTTP/1.1 as the proxy of either tier has written it, go one after
 * the other to an origin of the first route that fits their paths; answers come back as they are. Connections to origins are kept
 * for later requests of the same client. What is not HTTP/1.1 is refused, because it names no path.
 */
import { Socket } from "@catenet/platform/Sockets"
import { readerOfHead, siteOfHead } from "@catenet/proxy/internal/ContentNegotiation"
import { maxHead } from "@catenet/proxy/internal/http1/RequestHead"
import { http1, plainResponse, type ProxyResponse, readBy } from "@catenet/proxy/internal/ProxyPages"
import { ResponseTracker } from "@catenet/wire/http/ResponseTracker"
import { abort } from "@catenet/wire/transport/Abort"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { bytesOf, type Piece } from "../tunnel/Origin.ts"
import { canBegin, downPage, type Exchange, headEnd, type Line, methodOf, read, type RouteTarget } from "./Exchange.ts"
import type { PoolMember } from "./OriginPool.ts"

export interface RoutedOptions {
  /** The route for a path without its query. */
  readonly routeOf: (path: string) => RouteTarget | undefined
  readonly dial: (member: PoolMember) => Promise<Socket>
  readonly now: () => number
  readonly onFault: OnFault
}

/** Idle connections to origins that one client keeps. */
const maxIdleLines = 8
const nothing = Buffer.alloc(0)
type Phase = "body" | "head" | "over" | "raw" | "waiting"
type Done = (error?: Error | null) => void

export class RoutedConnection extends Socket {
  readonly #options: RoutedOptions
  readonly #kept = new Map<PoolMember, Line>()
  #phase: Phase = "head"
  #exchange: Exchange | undefined
  /** A head that is not whole. */
  #pending: Buffer = nothing
  /** What the client has written and nobody has taken. */
  #rest: Buffer = nothing
  #done: Done | undefined
  #isEnding = false
  /** Bytes of the client, and for it. */
  #asked = 0
  #answered = 0

  constructor(options: RoutedOptions) {
    super({ allowHalfOpen: true })
    this.#options = options
    // It keeps no process alive: its connections to origins do.
    Object.assign(this, { ref: () => this, unref: () => this })
    Object.defineProperties(this, {
      bytesRead: { get: () => this.#answered },
      bytesWritten: { get: () => this.#asked }
    })
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#take(bytesOf({ chunk, encoding }), done)
  }

  override _writev(pieces: ReadonlyArray<Piece>, done: Done): void {
    this.#take(Buffer.concat(pieces.map(bytesOf)), done)
  }

  /** Not by `_write`, which an inspector replaces as well as `_writev`: it would see these bytes twice. */
  #take(bytes: Buffer, done: Done): void {
    this.#asked += bytes.length
    this.#rest = bytes
    this.#done = done
    this.#advance()
  }

  override _read(): void {
    this.#exchange?.line?.socket.resume()
  }

  override _final(done: Done): void {
    done()
    this.#isEnding = true
    const exchange = this.#exchange
    if (this.#phase === "raw") return void exchange?.line?.socket.end()
    if (exchange === undefined) return this.#close()
    // The rest of the body will not come.
    if (!exchange.body.over) this.destroy()
  }

  override _destroy(error: Error | null, done: Done): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    this.#phase = "over"
    if (exchange?.line !== undefined) {
      exchange.line.member.active -= 1
      abort(exchange.line.socket)
    }
    for (const { socket } of this.#kept.values()) socket.destroy()
    super._destroy(error, done)
  }

  #close(): void {
    this.#phase = "over"
    this.push(null)
    for (const { socket } of this.#kept.values()) socket.destroy()
    this.#advance()
  }

  /** Takes of what the client has written as much as can go on now. */
  #advance(): void {
    while (this.#done !== undefined) {
      if (this.#rest.length === 0) {
        const done = this.#done
        this.#done = undefined
        return done()
      }
      if (!this.#step()) return
    }
  }

  /** Whether there is more to do at once. */
  #step(): boolean {
    const exchange = this.#exchange
    switch (this.#phase) {
      case "over":
        this.#rest = nothing
        return true
      case "waiting":
        return false
      case "head":
        if (exchange !== undefined) return false
        this.#readHead()
        return true
      case "raw":
      case "body": {
        if (exchange?.line === undefined) return false
        const taken = this.#phase === "raw" ? this.#rest.length : exchange.body.take(this.#rest)
        const piece = this.#rest.subarray(0, taken)
        this.#rest = this.#rest.subarray(taken)
        if (exchange.body.malformed) {
          this.#respond(exchange.head, plainResponse(400, "the body of the request is malformed"))
          return true
        }
        if (this.#phase === "body" && exchange.body.over) this.#phase = "head"
        const { socket } = exchange.line
        const isFull = piece.length > 0 && !socket.destroyed && !socket.write(piece)
        if (this.#phase === "head") this.#settle(exchange)
        if (isFull) socket.once("drain", () => this.#advance())
        return !isFull
      }
    }
  }

  #readHead(): void {
    const bytes = this.#pending.length === 0 ? this.#rest : Buffer.concat([this.#pending, this.#rest])
    const end = bytes.indexOf(headEnd)
    this.#pending = nothing
    this.#rest = nothing
    if (end < 0 && bytes.length <= maxHead && canBegin(bytes)) return void (this.#pending = bytes)
    const exchange = read(bytes, end, this.#options.routeOf)
    if ("status" in exchange) return this.#respond(bytes.toString("latin1", 0, Math.max(end, 0)), exchange)
    this.#rest = bytes.subarray(end + headEnd.length)
    this.#exchange = exchange
    this.#ask(exchange)
  }

  /** Gives the request to an origin; to another one if it cannot be reached. */
  #ask(exchange: Exchange): void {
    const { now } = this.#options
    const { pool, tried } = exchange
    const member = pool.pick(tried, now())
    if (member === undefined) return this.#respond(exchange.head, downPage(pool.outFor(now())))
    const kept = this.#kept.get(member)
    member.active += 1
    if (kept !== undefined) {
      this.#kept.delete(member)
      kept.isReused = true
      return this.#send(exchange, kept)
    }
    this.#phase = "waiting"
    this.#options.dial(member).then(
      (socket) => {
        if (this.#exchange !== exchange) {
          member.active -= 1
          return void socket.destroy()
        }
        this.#send(exchange, this.#followed({ socket, member, isReused: false, hasEnded: false }))
        this.#advance()
      },
      () => {
        member.active -= 1
        member.failed(now())
        tried.add(member)
        if (this.#exchange !== exchange) return
        this.#ask(exchange)
        this.#advance()
      }
    )
  }

  #send(exchange: Exchange, line: Line): void {
    const { body, bytes, request } = exchange
    exchange.line = line
    exchange.answer.asks(request)
    this.#phase = body.over ? "head" : "body"
    const { socket } = line
    if (!body.over) {
      // The head and a body that came with it are one packet.
      socket.cork()
      process.nextTick(() => socket.uncork())
    }
    socket.write(bytes)
    socket.resume()
  }

  #followed(line: Line): Line {
    const { socket } = line
    guard(socket, (error) => {
      this.#options.onFault(error)
      this.destroy()
    })
    socket.on("data", (chunk: Buffer) => this.#said(line, chunk))
    socket.once("end", () => {
      line.hasEnded = true
      if (this.#phase === "raw" && this.#exchange?.line === line) this.push(null)
      else socket.destroy()
    })
    socket.once("close", () => this.#lost(line))
    return line
  }

  #said(line: Line, chunk: Buffer): void {
    const exchange = this.#exchange
    // Nobody has asked it for that.
    if (exchange?.line !== line) return void line.socket.destroy()
    if (!exchange.hasAnswer) line.member.succeeded()
    exchange.hasAnswer = true
    const isUpgraded = exchange.answer.push(chunk)
    this.#answered += chunk.length
    if (!this.push(chunk)) line.socket.pause()
    if (isUpgraded === true) {
      this.#phase = "raw"
      if (this.#isEnding) line.socket.end()
      this.#advance()
    } else this.#settle(exchange)
  }

  /** Goes on with the next request once this one has its answer and its whole body. */
  #settle(exchange: Exchange): void {
    const { answer, body, line } = exchange
    if (!exchange.hasAnswer || !answer.isWhole || !body.over || line === undefined) return
    this.#exchange = undefined
    this.#phase = "head"
    line.member.active -= 1
    if (!line.socket.destroyed) {
      this.#kept.set(line.member, line)
      const [oldest] = this.#kept.values()
      if (this.#kept.size > maxIdleLines) oldest?.socket.destroy()
    }
    return this.#isEnding ? this.#close() : this.#advance()
  }

  /** The connection to an origin has closed. */
  #lost(line: Line): void {
    if (this.#kept.get(line.member) === line) this.#kept.delete(line.member)
    const exchange = this.#exchange
    if (exchange?.line !== line) return
    const { answer, hasAnswer } = exchange
    line.member.active -= 1
    if (hasAnswer && (answer.isWhole || (answer.isEndless && line.hasEnded))) {
      // What still comes of the body has no reader.
      this.#exchange = undefined
      return this.#close()
    }
    exchange.line = undefined
    if (!hasAnswer && !line.isReused) {
      line.member.failed(this.#options.now())
      exchange.tried.add(line.member)
    }
    if (!hasAnswer && exchange.isRepeatable) {
      this.#exchange = { ...exchange, answer: new ResponseTracker(), line: undefined }
      this.#ask(this.#exchange)
      return this.#advance()
    }
    this.destroy(new Error(`${line.member.origin.name} closed its connection before its answer was whole`))
  }

  /** Answers in the place of an origin, and ends. */
  #respond(head: string, page: ProxyResponse): void {
    const exchange = this.#exchange
    this.#exchange = undefined
    if (exchange?.line !== undefined) {
      exchange.line.member.active -= 1
      exchange.line.socket.destroy()
    }
    if (exchange?.hasAnswer === true) return void this.destroy()
    const bytes = http1(readBy(page, readerOfHead(head), siteOfHead(head)), methodOf(head))
    this.#answered += bytes.length
    this.push(bytes)
    this.#close()
  }
}
