/**
 * Joins a sentence of ours with text of another program or library. Some end with a full stop, some do not, so every
 * such text passes through here.
 */

/**
 * As a part of a sentence that continues or ends behind it: without a full stop of its own.
 *
 * @example
 * ```ts
 * import { clause } from "@catenet/domain/values/Sentence"
 *
 * if (`${clause("It is away.")}; try again.` !== "It is away; try again.") throw new Error("one full stop")
 * ```
 */
export const clause = (text: string): string => {
  let sentence = text.trimEnd()
  while (sentence.endsWith(".")) sentence = sentence.slice(0, -1).trimEnd()
  return sentence
}

/**
 * As a sentence before another one: with one full stop, unless it ends with another sign.
 *
 * @example
 * ```ts
 * import { ended } from "@catenet/domain/values/Sentence"
 *
 * if (`${ended("it is away")} Try again.` !== "it is away. Try again.") throw new Error("one full stop")
 * ```
 */
export const ended = (text: string): string => {
  const sentence = clause(text)
  return sentence === "" || /[!?…]$/u.test(sentence) ? sentence : sentence.concat(".")
}
