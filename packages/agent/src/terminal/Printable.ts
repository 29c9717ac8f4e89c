/** Text from elsewhere for a terminal or a log: control characters, and those that turn the direction of text, become escapes. */

// eslint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** On one line; a tab, too, is shown as an escape. */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`)
