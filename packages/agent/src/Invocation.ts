/** The command that starts this program again: a single executable runs itself; otherwise Node runs the current file. */
import { resolve } from "node:path"
import { isSea } from "node:sea"

export const invocation = (): ReadonlyArray<string> =>
  isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? "ct-agent")]

const entry = (...args: ReadonlyArray<string>) => {
  const [command = "ct-agent", ...rest] = invocation()
  return { command, args: [...rest, ...args] }
}

/** How an MCP client starts the program for the channel of this file. */
export const mcpEntry = (file: string) => entry("channel", "mcp", "--config", file)

/** How it starts the program for all channels. */
export const gatewayEntry = () => entry("mcp", "gateway")
