/**
 * Fetches files of releases. The host is believed nothing: how long it may take and how much it may send is bounded, it leads
 * nowhere else, and what it sends is in memory until it has been verified.
 */
import { Http } from "@catenet/platform/Http"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Data, Effect } from "effect"
import { createConnection, proxyFor } from "../carrier/OutgoingProxy.ts"

/** In milliseconds: the contract's bounds of a download. */
const connectBound = 20_000
const wholeBound = 60_000

/** Why there is no file, as the end of a sentence that begins with its address. */
export class FetchFailed extends Data.TaggedError("FetchFailed")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

interface Bounds {
  /** Bytes that are taken. */
  readonly most: number
  readonly connect?: number
  readonly whole?: number
}

const seconds = (millis: number) => `${millis / 1000} s`

/** The file; `undefined` where the host says that there is none. */
export const get = Effect.fn("ReleaseDownload.get")(function* (
  address: string,
  { connect = connectBound, most, whole = wholeBound }: Bounds
) {
  const url = new URL(address)
  const isPlain = url.protocol === "http:"
  const proxy = yield* proxyFor({
    host: url.hostname.replace(/^\[|\]$/gu, ""),
    port: Number(url.port) || (isPlain ? 80 : 443)
  })
  return yield* Effect.callback<Buffer | undefined, FetchFailed>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(new FetchFailed({ reason: `${address} ${reason}` })))
    const options = {
      ...(proxy === undefined ? { agent: false } : { createConnection: createConnection(proxy, { url }) }),
      headers: { accept: "*/*", "user-agent": "ct-agent" }
    } as const
    const request = isPlain ? Http.request(url, options) : Http.secureRequest(url, options)
    request.end()
    const stop = (reason: string) => {
      fail(reason)
      request.destroy()
    }
    const connecting = Scheduler.setTimeout(() => stop(`is not reached within ${seconds(connect)}`), connect)
    const lasting = Scheduler.setTimeout(
      () => stop(`is not received within ${seconds(whole)}: the host or the line is too slow for it`),
      whole
    )
    const settle = () => {
      Scheduler.clearTimeout(connecting)
      Scheduler.clearTimeout(lasting)
    }
    request.once("socket", (socket) => {
      // A proxy's connection comes connected.
      if (isPlain && !socket.connecting) return Scheduler.clearTimeout(connecting)
      socket.once(isPlain ? "connect" : "secureConnect", () => Scheduler.clearTimeout(connecting))
    })
    request.once("error", (error) => fail(`is not received: ${error.message}`))
    request.once("close", settle)
    request.once("response", (response) => {
      const { headers, statusCode: status = 0 } = response
      if (status === 404 || status === 410) {
        resume(Effect.succeed(undefined))
        return request.destroy()
      }
      if (status !== 200) return stop(`answered ${status}`)
      const tooLong = `is longer than ${most} bytes`
      if (Number(headers["content-length"] ?? 0) > most) return stop(tooLong)
      const parts: Array<Buffer> = []
      let length = 0
      response.on("data", (part: Buffer) => {
        length += part.length
        if (length > most) return stop(tooLong)
        parts.push(part)
      })
      response.once("error", () => fail("ended before it was whole"))
      response.once("end", () => resume(Effect.succeed(Buffer.concat(parts, length))))
    })
    return Effect.sync(() => {
      settle()
      request.destroy()
    })
  })
})
