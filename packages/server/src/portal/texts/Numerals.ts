/** Numbers of the pages as a language writes them: counts in groups of three, shares and sizes with its decimal sign. */
import { bytesText, percentText } from "@catenet/domain/values/Format"

/** A number in digits has at most one point, which is its decimal sign. */
const decimals = (sign: string) => ({
  percent: (share: number | null): string => percentText(share).replace(".", sign),
  bytes: (bytes: number | bigint): string => bytesText(bytes).replace(".", sign)
})

const groups = (language: string) => {
  const format = new Intl.NumberFormat(language)
  return (figure: number | bigint): string => format.format(figure)
}

export const numerals = {
  en: { count: groups("en"), ...decimals(".") },
  de: { count: groups("de"), ...decimals(",") }
}
