/** The picture of a badge: flat, 20 pixels high, readable by screen readers. A function from what it says to SVG. */
import type { BadgeFace } from "@catenet/domain/tunnels/Badge"

/** Pixels of a character of 11 pixel Verdana, on average; the picture states the width that it was laid out for. */
const characterWidth = 6.5
const padding = 10

const widthOf = (text: string) => Math.round(text.length * characterWidth) + padding

/** `face` holds texts of this program only: a fixed label, figures, and a fixed colour. */
export const render = ({ colour, label, text }: BadgeFace): string => {
  const left = widthOf(label)
  const right = widthOf(text)
  const whole = left + right
  const caption = `${label}: ${text}`
  const word = (content: string, middle: number) =>
    `<text x="${middle}" y="14" textLength="${widthOf(content) - padding}">${content}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="20" role="img" aria-label="${caption}"><title>${caption}</title>\
<rect width="${left}" height="20" fill="#555"/><rect x="${left}" width="${right}" height="20" fill="${colour}"/>\
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">\
${word(label, left / 2)}${word(text, left + right / 2)}</g></svg>
`
}
