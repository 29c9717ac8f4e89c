/** Calls the peer once and prints the response on stdout, byte for byte, followed by a newline. */
import * as Bytes from "@catenet/crypto/Bytes"
import type * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { Effect, Result } from "effect"
import { buffer } from "node:stream/consumers"
import { CallFailed, ErrorReplied } from "../../Failure.ts"
import { Screen } from "../../terminal/Screen.ts"
import type { RpcClient } from "../rpc/RpcClient.ts"
import { textOf } from "../rpc/Tool.ts"

const failed = (error: { readonly message: string }) => new CallFailed({ detail: error.message })

/** stdin, trimmed. Read before the peer is looked for. */
export const input = Effect.tryPromise({
  try: () => buffer(process.stdin),
  catch: () =>
    new CallFailed({ detail: "stdin cannot be read. Give the request there, as in: echo hi | ct-agent channel" })
}).pipe(Effect.map((bytes) => bytes.toString("utf8").trim()))

/** `service/<slug>` with this input; prints the bare output. */
export const callService = Effect.fn("OneShotCall.callService")(function* (
  client: RpcClient,
  service: string,
  text: string
) {
  const screen = yield* Screen
  const name = service.startsWith("service/") ? service : `service/${service}`
  const reply = yield* Effect.mapError(client.request("tools/call", { name, arguments: { input: text } }), failed)
  const result = Envelope.readResponse(reply)
  if (Result.isFailure(result))
    return yield* failed({ message: `The peer did not serve ${name}: ${result.failure.message}` })
  const output = textOf(result.success, "output")
  if (output === undefined) return yield* failed({ message: `The peer's answer to ${name} has no output.` })
  screen.result(output)
})

/** Any method; prints the whole reply. */
export const call = Effect.fn("OneShotCall.call")(function* (
  client: RpcClient,
  method: string,
  params: Json.Json | undefined
) {
  const screen = yield* Screen
  const reply = yield* Effect.mapError(client.request(method, params), failed)
  const text = Bytes.toText(reply)
  if (Result.isFailure(text)) return yield* failed({ message: "The peer's reply is not UTF-8." })
  screen.result(text.success)
  const result = Envelope.readResponse(reply)
  if (Result.isFailure(result))
    return yield* new ErrorReplied({ detail: `The peer replied with an error: ${result.failure.message}` })
})
