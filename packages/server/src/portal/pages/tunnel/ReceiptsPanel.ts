/** The receipts of a tunnel: the download, and the line that verifies it by the edge's key and not by the file's own word. */
import type { ReceiptKey } from "@catenet/domain/tunnels/Receipt"
import { markup } from "@catenet/platform/Markup"
import { Option } from "effect"
import type { Answer } from "../../../edges/EdgeFacts.ts"
import { field, panel } from "../../shell/Field.ts"
import type { Texts } from "../../texts/English.ts"

const keyOf = (texts: Texts, id: string, { edge_id, pubkey }: ReceiptKey) =>
  markup`<dl class="pairs"><dt>${texts.receiptKeyOf(edge_id)}</dt><dd class="mono">${pubkey}</dd></dl>
    <pre tabindex="0" data-copy="${texts.copy}" data-copied="${texts.copied}">catenet receipts verify receipts-${id}.jsonl --key ${pubkey}</pre>`

/** `verifier`: where the page is that verifies. */
export const render = (
  texts: Texts,
  id: string,
  { known, silent }: Answer<ReadonlyArray<ReceiptKey>>,
  verifier: string
) => {
  const keys = Option.getOrElse(known, () => [])
  return panel(
    texts.receiptsTitle,
    markup`<p class="hint">${texts.receiptsText} <a href="${verifier}">${texts.verifyReceipts}</a></p>
    <form method="get" action="/portal/tunnels/${id}/receipts.jsonl">
      ${field({ name: "since", type: "number", value: "0", label: texts.receiptsSince, hint: texts.receiptsSinceHint })}
      <button>${texts.receipts}</button></form>
    ${keys.map((key) => keyOf(texts, id, key))}
    ${silent.length > 0 ? markup`<p class="hint">${texts.receiptKeySilent(silent.join(", "))}</p>` : undefined}
    ${keys.length === 0 && silent.length === 0 ? markup`<p class="hint">${texts.receiptKeyNone}</p>` : undefined}`,
    "receipts"
  )
}
