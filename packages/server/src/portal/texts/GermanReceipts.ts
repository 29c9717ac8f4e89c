/** The page that verifies receipts, in German. */
import { largestFile } from "@catenet/crypto/receipt/FileCheck"
import type { ReceiptsTexts } from "./EnglishReceipts.ts"

export const receiptsTexts: ReceiptsTexts = {
  verifyReceipts: "Belege prüfen",
  verifyText:
    "Ihr Browser prüft jede Unterschrift, jedes Glied der Kette, und dass dazwischen kein Beleg fehlt. Die Datei bleibt auf Ihrem Rechner: Diese Seite sendet nichts.",
  verifyByCommand: "Dieselbe Prüfung ohne Browser:",
  verifyNoScript: "Ohne ihr Skript kann diese Seite nicht prüfen. Prüfen Sie auf Ihrem Rechner mit dem Befehl:",
  receiptsFile: "Datei mit Belegen",
  receiptsFileHint: `Wie sie von einem Tunnel heruntergeladen wurde, höchstens ${largestFile / 1_048_576} MB.`,
  edgeKey: "Öffentlicher Schlüssel des Edge",
  edgeKeyHint: "64 hexadezimale Ziffern. Ohne ihn wird dem Schlüssel geglaubt, den die Datei selbst nennt.",
  verifyButton: "Prüfen",
  verifyBusy: "Wird geprüft …",
  verifyHolds: "Die Belege gelten.",
  verifyRefused: "Die Belege gelten nicht.",
  verifyUnusable: "Das lässt sich nicht prüfen."
}
