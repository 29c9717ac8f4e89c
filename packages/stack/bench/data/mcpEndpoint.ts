/** A program with the endpoint of `ct-agent mcp` for the server of the bench, at a port of its own, which it prints. Anyone may call. */
import { Effect } from "effect"
import * as Endpoint from "../../../agent/test/mcp/Endpoint.ts"

const serving = Effect.gen(function* () {
  const { url } = yield* Endpoint.open(Endpoint.tools, { isPublic: true })
  process.stdout.write(`${url}\n`)
  return yield* Effect.never
})

await Effect.runPromise(Effect.scoped(serving))
