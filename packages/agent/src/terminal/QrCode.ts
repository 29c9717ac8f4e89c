/** A QR code of characters, two rows of it in a line: dark modules are the background of a terminal with light text. */
import { encodeQR } from "qr"

const quietZone = 2

/** Lines for a terminal. */
export const lines = (text: string): ReadonlyArray<string> => {
  const rows = encodeQR(text, "raw", { ecc: "low", border: quietZone })
  const isLight = (y: number, x: number) => rows[y]?.[x] === false
  const at = (y: number, x: number) => {
    const [upper, lower] = [isLight(y, x), isLight(y + 1, x)]
    if (upper) return lower ? "█" : "▀"
    return lower ? "▄" : " "
  }
  const [width] = [rows[0]?.length ?? 0]
  return Array.from({ length: Math.ceil(rows.length / 2) }, (_, line) =>
    Array.from({ length: width }, (_column, x) => at(2 * line, x)).join("")
  )
}
