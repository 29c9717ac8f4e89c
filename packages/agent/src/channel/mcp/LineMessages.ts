/** JSON messages of a local MCP program, one a line (the stdio transport of the Model Context Protocol). */
import * as Json from "@catenet/crypto/Json"
import { Result } from "effect"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { isObject, type JsonObject } from "../rpc/Tool.ts"

/** Characters a line may have; a program that sends a longer one is cut off. */
export const longestLine = 4 * 1024 * 1024

/** Calls `onMessage` with every object; other lines are left out. `onTooLong` is called once, and then nothing more. */
export const readLines = (stream: Readable, onMessage: (message: JsonObject) => void, onTooLong: () => void): void => {
  const decoder = new StringDecoder("utf8")
  let rest = ""
  let isOver = false
  stream.on("data", (chunk: Buffer) => {
    if (isOver) return
    const lines = (rest + decoder.write(chunk)).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const value = Result.getOrUndefined(Json.parse(line))
      if (isObject(value)) onMessage(value)
    }
    if (rest.length <= longestLine) return
    isOver = true
    onTooLong()
  })
}

/** Writes one message. */
export const writeLine = (stream: Writable, message: JsonObject): void => {
  if (stream.writable) stream.write(`${Json.write(message)}\n`)
}
