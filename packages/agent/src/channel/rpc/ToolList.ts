/**
 * The tools of a member by name, a page at a time: a list that no frame carries goes on behind a cursor, as MCP has it, which is
 * the last name of the page before. Pure.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import { maxMessage } from "@catenet/crypto/rpc/Envelope"
import type { JsonObject, Tool } from "./Tool.ts"

/** What is left is for the response around it. */
const pageBytes = maxMessage - 1024

const byName = (a: Tool, b: Tool) => (a.name < b.name ? -1 : 1)

const bytesOf = (entry: JsonObject) => Bytes.fromText(`${Json.write(entry).toWellFormed()},`).length

/** A tool whose schema is too long is listed without it, and one whose name is too long is not. */
const shortest = ({ description, listed = {}, name }: Tool) =>
  [
    { name, description, ...listed },
    { name, description: "" }
  ]
    .map((entry) => ({ entry, bytes: bytesOf(entry) }))
    .find(({ bytes }) => bytes <= pageBytes)

export const page = (tools: ReadonlyArray<Tool>, cursor: string | undefined): JsonObject => {
  const entries: Array<JsonObject> = []
  let [left, last] = [pageBytes, ""]
  for (const tool of tools.toSorted(byName)) {
    if (cursor !== undefined && tool.name <= cursor) continue
    const found = shortest(tool)
    if (found === undefined) continue
    if (found.bytes > left) return { tools: entries, nextCursor: last }
    entries.push(found.entry)
    left -= found.bytes
    last = tool.name
  }
  return { tools: entries }
}
