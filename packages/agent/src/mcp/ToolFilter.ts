/** The tools that a caller may see and call. */
import { memberOf } from "../channel/mcp/McpResult.ts"
import { isObject, type JsonObject, textOf } from "../channel/rpc/Tool.ts"

export class ToolFilter {
  readonly #form: RegExp

  /** Names of tools, in which `*` stands for any characters. */
  constructor(patterns: ReadonlyArray<string>) {
    const forms = patterns.map((pattern) => pattern.split("*").map(RegExp.escape).join(".*"))
    this.#form = new RegExp(`^(?:${forms.join("|")})$`, "su")
  }

  allows(name: string): boolean {
    return this.#form.test(name)
  }

  /** The name of the tool that a request calls and must not. */
  refused(message: JsonObject): string | undefined {
    if (memberOf(message, "method") !== "tools/call") return undefined
    const name = textOf(memberOf(message, "params") ?? null, "name") ?? ""
    return this.allows(name) ? undefined : name
  }

  /** An answer without the other tools; undefined where it may stay as it is. */
  answer(method: string, answer: JsonObject): JsonObject | undefined {
    const result = memberOf(answer, "result")
    const tools = method === "tools/list" ? memberOf(result, "tools") : undefined
    if (!isObject(result) || !Array.isArray(tools)) return undefined
    return { ...answer, result: { ...result, tools: tools.filter((tool) => this.allows(textOf(tool, "name") ?? "")) } }
  }
}
