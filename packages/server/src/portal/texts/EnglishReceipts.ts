/** The page that verifies receipts, in English. */
import { largestFile } from "@catenet/crypto/receipt/FileCheck"
import type { TextsOf } from "./TextsOf.ts"

export const receiptsTexts = {
  verifyReceipts: "Verify receipts",
  verifyText:
    "Your browser checks every signature, every link of the chain, and that no receipt is missing in between. The file stays on your machine: this page sends nothing.",
  verifyByCommand: "The same check without a browser:",
  verifyNoScript: "Without its script this page cannot verify. Do it on your machine with the command:",
  receiptsFile: "File of receipts",
  receiptsFileHint: `As it was downloaded from a tunnel, at most ${largestFile / 1_048_576} MB.`,
  edgeKey: "Public key of the edge",
  edgeKeyHint: "64 hexadecimal digits. Without it, the key that the file itself names is believed.",
  verifyButton: "Verify",
  verifyBusy: "Verifying…",
  verifyHolds: "The receipts hold.",
  verifyRefused: "The receipts do not hold.",
  verifyUnusable: "This cannot be verified."
}

export type ReceiptsTexts = TextsOf<typeof receiptsTexts>
