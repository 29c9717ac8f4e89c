/** The search that stands for a long list of tools: what it is called, what it finds, and its answer. Pure. */
import * as Json from "@catenet/crypto/Json"
import { type JsonObject, textOf } from "../rpc/Tool.ts"
import { memberOf } from "./McpResult.ts"

/** Tools that are listed; above that they are searched. */
export const maxListed = 40
/** Tools that one search answers. */
const maxFound = 10

const text = (description: string) => ({ type: "string", description })

/** The entries of `tools/list` in place of the others. */
export const tools: ReadonlyArray<JsonObject> = [
  {
    name: "find_tools",
    description: "Finds tools of all machines by words of their names and descriptions, with their input schemas.",
    inputSchema: { type: "object", properties: { query: text("Words to look for.") }, required: ["query"] },
    annotations: { readOnlyHint: true }
  },
  {
    name: "call_tool",
    description: "Calls a tool that find_tools has found.",
    inputSchema: {
      type: "object",
      properties: {
        name: text("The tool, such as laptop.read_file."),
        arguments: { type: "object", description: "Its arguments." }
      },
      required: ["name"]
    }
  }
]

/** The entries that have the most of the words, in name before description, best first. */
export const find = (entries: ReadonlyArray<JsonObject>, query: string): ReadonlyArray<JsonObject> => {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const score = (entry: JsonObject) => {
    const name = textOf(entry, "name")?.toLowerCase() ?? ""
    const description = textOf(entry, "description")?.toLowerCase() ?? ""
    return words.reduce((sum, word) => sum + (name.includes(word) ? 2 : 0) + (description.includes(word) ? 1 : 0), 0)
  }
  return entries
    .map((entry) => ({ entry, of: score(entry) }))
    .filter(({ of }) => of > 0)
    .toSorted((a, b) => b.of - a.of)
    .slice(0, maxFound)
    .map(({ entry }) => entry)
}

/** The result of a search, for programs and for models. */
export const answer = (found: ReadonlyArray<JsonObject>, absences: ReadonlyArray<string>): JsonObject => {
  const lines = found.map(
    (entry) =>
      `${textOf(entry, "name") ?? ""}: ${textOf(entry, "description") ?? ""}\n  arguments: ${Json.write(memberOf(entry, "inputSchema") ?? {})}`
  )
  const said = [...(lines.length === 0 ? ["No tool has these words."] : lines), ...absences].join("\n")
  return { content: [{ type: "text", text: said }], structuredContent: { tools: [...found] } }
}
