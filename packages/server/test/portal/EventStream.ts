/** A stream of server-sent events as a test reads it. */
import * as TestServer from "@catenet/testing/server/TestServer"
import { Effect } from "effect"

export const openStream = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const ending = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => ending.abort()))
    const response = yield* TestServer.raw(path, { headers, signal: ending.signal })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    /** Everything up to the text that is waited for. */
    const until = (wanted: string) =>
      Effect.promise(async () => {
        while (!text.includes(wanted)) {
          const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
          if (done) throw new Error(`ended with ${text}`)
          text += value
        }
        const read = text
        text = ""
        return read
      })
    return { status: response.status, type: response.headers.get("content-type"), until }
  })
