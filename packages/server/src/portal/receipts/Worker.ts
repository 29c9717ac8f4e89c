/**
 * The worker of the page that verifies receipts: it reads the file that the page hands it and answers what `catenet
 * receipts verify` would say. It runs in browsers only; `VerifierScript.generated.ts` holds it as one script.
 */
import { portable } from "@catenet/crypto/portable"
import * as FileCheck from "@catenet/crypto/receipt/FileCheck"

interface Asked {
  readonly file: Blob & { readonly name: string }
  readonly key: string
}
declare const addEventListener: (type: "message", listener: (event: { readonly data: Asked }) => void) => void
declare const postMessage: (verdict: FileCheck.FileVerdict) => void

const verdictOf = async ({ file, key }: Asked): Promise<FileCheck.FileVerdict> => {
  const { name, size } = file
  try {
    const tooMuch = FileCheck.oversized(name, size)
    if (tooMuch !== undefined) return tooMuch
    const bytes = new Uint8Array(await file.arrayBuffer())
    return FileCheck.check(portable, { name, bytes, key: key === "" ? undefined : key })
  } catch (cause) {
    return FileCheck.unreadable(name, cause)
  }
}

addEventListener("message", ({ data }) => {
  void verdictOf(data).then((verdict) => postMessage(verdict))
})
