/** The page that verifies receipts, in English. */
import { largestFile } from "@catenet/crypto/receipt/FileCheck"
import type { TextsOf } from "./TextsOf.ts"

export const receiptsTexts = {
  verifyReceipts: "Verify receipts",
  verifyText:
    "Your browser checks every signature, every link of the chain, and that no receipt is missing in between. The file stays on your machine: this page sends nothing.",
  verifyByCommand: "The same check without a browser:",
  verifyNoScript: "Without JavaScript this page cannot verify receipts. Run this command on your machine:",
  receiptsFile: "File of receipts",
  receiptsFileHint: `As it was downloaded from a tunnel, at most ${largestFile / 1_048_576} MB.`,
  edgeKey: "Public key of the edge",
  edgeKeyHint: "64 hexadecimal digits. If empty, the key in the file is trusted.",
  verifyButton: "Verify",
  verifyBusy: "Verifying…",
  verifyHolds: "The receipts are valid.",
  verifyRefused: "The receipts are not valid.",
  verifyUnusable: "This cannot be verified."
}

export type ReceiptsTexts = TextsOf<typeof receiptsTexts>
