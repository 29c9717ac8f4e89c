/**
 * Calls the receiver of an alert, and nobody else: the name is resolved first, an address that is not a public one is
 * refused, and the connection goes to the very address that was checked. Redirects are not followed and the answer's
 * body is not read. Plain http goes to this machine only.
 *
 * `fetch` resolves names by itself after any check that could be made before, so this speaks `node:http`.
 */
import { Context, Data, Effect, Layer } from "effect"
import { lookup } from "node:dns/promises"
import { request as requestHttp } from "node:http"
import { request as requestHttps } from "node:https"
import { isIP } from "node:net"
import { isLoopback, isPublic } from "./Addresses.ts"

/** Seconds for one attempt, from the name to the status. */
const patience = "5 seconds"

/** The receiver did not answer. `why` names neither the path nor the query of its address. */
export class ReceiverUnreachable extends Data.TaggedError("ReceiverUnreachable")<{ readonly why: string }> {}

export interface Message {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface Address {
  readonly address: string
  readonly family: number
}

const unreachable = (why: string) => new ReceiverUnreachable({ why })

const addressesOf = (host: string): Effect.Effect<ReadonlyArray<Address>, ReceiverUnreachable> => {
  const family = isIP(host)
  return family !== 0
    ? Effect.succeed([{ address: host, family }])
    : Effect.tryPromise({
        try: () => lookup(host, { all: true, verbatim: true }),
        catch: () => unreachable("its name cannot be resolved")
      })
}

/** The address to connect to. A name with one address that must not be called is refused as a whole. */
const checked = Effect.fnUntraced(function* (url: URL) {
  const host = url.hostname.replace(/^\[(.*)\]$/u, "$1")
  const mayCall = url.protocol === "http:" ? isLoopback : isPublic
  const addresses = yield* addressesOf(host)
  const [first] = addresses
  if (first === undefined) return yield* unreachable("its name has no address")
  if (!addresses.every(({ address }) => mayCall(address))) {
    return yield* unreachable("its address is not on the public internet")
  }
  return first
})

const post = (url: URL, to: Address, { body, headers }: Message) =>
  Effect.callback<number, ReceiverUnreachable>((resume) => {
    const call = url.protocol === "http:" ? requestHttp : requestHttps
    const sent = call(
      url,
      {
        method: "POST",
        agent: false,
        headers: { "user-agent": "Catenet", ...headers, "content-length": Buffer.byteLength(body) },
        // Names the checked address whatever is asked, so that nothing is resolved again.
        lookup: (_name, options, answer) =>
          options.all === true ? answer(null, [to]) : answer(null, to.address, to.family)
      },
      (response) => {
        resume(Effect.succeed(response.statusCode ?? 0))
        response.destroy()
      }
    )
    sent.on("error", () => resume(Effect.fail(unreachable("the connection failed"))))
    sent.end(body)
    return Effect.sync(() => void sent.destroy())
  })

const make = {
  /** Posts a message once; answers the receiver's status. */
  post: Effect.fn("Receivers.post")(
    function* (webhookUrl: string, message: Message) {
      const url = new URL(webhookUrl)
      return yield* post(url, yield* checked(url), message)
    },
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(unreachable("no answer within 5 s")) })
  )
}

export class Receivers extends Context.Service<Receivers, typeof make>()("server/Receivers") {
  static readonly layer = Layer.succeed(Receivers, make)
}
