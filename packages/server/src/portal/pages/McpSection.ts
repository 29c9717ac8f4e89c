/** The account as an MCP server: what each client takes to use it, to be copied. */
import { type Markup, markup } from "@catenet/platform/Markup"
import { section } from "../shell/Field.ts"
import type { Texts } from "../texts/English.ts"

/** A line for a terminal, or the entry for a file. */
const blocks = (url: string) =>
  [
    ["Claude Code", `claude mcp add --transport http catenet ${url}`],
    ["Cursor (~/.cursor/mcp.json)", JSON.stringify({ mcpServers: { catenet: { url } } }, undefined, 2)],
    ["VS Code", `code --add-mcp '${JSON.stringify({ name: "catenet", type: "http", url })}'`],
    ["Codex", `codex mcp add catenet --url ${url} && codex mcp login catenet`]
  ] as const

export const mcpSection = (texts: Texts, origin: string): Markup =>
  section(
    texts.mcpOfAccountTitle,
    markup`<div class="pad">${blocks(`${origin}/mcp`).map(
      ([client, text]) =>
        markup`<h3>${client}</h3><pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">${text}</pre>`
    )}<p class="hint">${texts.mcpSealed} <code>ct-agent mcp add claude --gateway</code></p></div>`,
    { id: "mcp", lead: texts.mcpText }
  )
