/** The names that every plain object answers to. A program that takes one for a key of its own table goes wrong. */
export const prototypeNames: ReadonlyArray<string> = Object.getOwnPropertyNames(Object.prototype)
