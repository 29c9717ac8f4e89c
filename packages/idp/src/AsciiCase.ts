/** Lower case of `A` to `Z` alone: Unicode's turns the Kelvin sign into `k`, and two people's addresses into one. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/gu, (letters) => letters.toLowerCase())
