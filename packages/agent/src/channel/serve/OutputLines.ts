/** The lines of what a command prints, without secrets, for the log. A line that does not end is cut. */
import { redact } from "@catenet/domain/values/Redaction"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"

const longestLine = 2048

/** `onLine` gets each line once it has ended, and the rest when the stream ends. */
export const readLines = (stream: Readable, onLine: (line: string) => void): void => {
  const decoder = new StringDecoder("utf8")
  let partial = ""
  stream.on("data", (chunk: Buffer) => {
    const lines = (partial + decoder.write(chunk)).split("\n")
    partial = (lines.pop() ?? "").slice(-longestLine)
    for (const line of lines) onLine(redact(line.slice(-longestLine)))
  })
  stream.once("close", () => {
    if (partial !== "") onLine(redact(partial))
    partial = ""
  })
}
