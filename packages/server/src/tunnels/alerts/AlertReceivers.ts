/**
 * Calls the receiver of an alert, and no other host: the name is resolved first, an address that is not a public one is
 * refused, and the connection goes to the very address that was checked. Redirects are not followed and the answer's
 * body is not read. Plain http goes to this machine only, and only where the operator allows it: to an account it would
 * tell which ports of the server answer. For the same reason an error says no more than whether it was policy.
 *
 * `fetch` would resolve the name again after the check, so this uses `node:http`.
 */
import { Http } from "@catenet/platform/Http"
import { isIP } from "@catenet/platform/IpAddress"
import { Context, Data, Effect, Layer } from "effect"
import { lookup } from "node:dns/promises"
import { Settings } from "../../settings/Settings.ts"
import { isLoopback, isPublic } from "./AlertAddresses.ts"

/** Seconds for one attempt, from the name to the status. */
const patience = "5 seconds"

/** The receiver did not answer. */
export class ReceiverUnreachable extends Data.TaggedError("ReceiverUnreachable") {}

/** The receiver is at an address that is not called. */
export class ReceiverForbidden extends Data.TaggedError("ReceiverForbidden") {}

export interface Message {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface Address {
  readonly address: string
  readonly family: number
}

const addressesOf = (host: string): Effect.Effect<ReadonlyArray<Address>, ReceiverUnreachable> => {
  const family = isIP(host)
  return family !== 0
    ? Effect.succeed([{ address: host, family }])
    : Effect.tryPromise({
        try: () => lookup(host, { all: true, verbatim: true }),
        catch: () => new ReceiverUnreachable()
      })
}

/** The address to connect to. A name with one address that must not be called is refused as a whole. */
const checked = Effect.fnUntraced(function* (url: URL, mayCall: (address: string) => boolean) {
  const addresses = yield* addressesOf(url.hostname.replace(/^\[(.*)\]$/u, "$1"))
  const [first] = addresses
  if (first === undefined) return yield* new ReceiverUnreachable()
  if (!addresses.every(({ address }) => mayCall(address))) return yield* new ReceiverForbidden()
  return first
})

const post = (url: URL, to: Address, { body, headers }: Message) =>
  Effect.callback<number, ReceiverUnreachable>((resume) => {
    const call = url.protocol === "http:" ? Http.request : Http.secureRequest
    const sent = call(
      url,
      {
        method: "POST",
        agent: false,
        headers: { "user-agent": "Catenet", ...headers, "content-length": Buffer.byteLength(body) },
        // Answers with the checked address for every name, so that nothing is resolved again.
        lookup: (_name, options, answer) =>
          options.all === true ? answer(null, [to]) : answer(null, to.address, to.family)
      },
      (response) => {
        resume(Effect.succeed(response.statusCode ?? 0))
        response.destroy()
      }
    )
    sent.on("error", () => resume(Effect.fail(new ReceiverUnreachable())))
    sent.end(body)
    return Effect.sync(() => void sent.destroy())
  })

export class AlertReceivers extends Context.Service<
  AlertReceivers,
  {
    /** Posts a message once; answers the receiver's status. */
    readonly post: (
      webhookUrl: string,
      message: Message
    ) => Effect.Effect<number, ReceiverForbidden | ReceiverUnreachable>
  }
>()("server/tunnels/alerts/AlertReceivers") {
  static readonly make = Effect.gen(function* () {
    const { alertsLoopback } = yield* Settings
    const mayCall = ({ protocol }: URL) => {
      if (protocol === "https:") return isPublic
      return alertsLoopback ? isLoopback : () => false
    }
    return {
      post: Effect.fn("AlertReceivers.post")(
        function* (webhookUrl: string, message: Message) {
          const url = new URL(webhookUrl)
          return yield* post(url, yield* checked(url, mayCall(url)), message)
        },
        Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(new ReceiverUnreachable()) })
      )
    }
  })

  static readonly layerNoDeps = Layer.effect(AlertReceivers, AlertReceivers.make)
  static readonly layer = AlertReceivers.layerNoDeps
}
