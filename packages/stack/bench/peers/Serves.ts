/** Whether a tunnel carries a visitor to the origin, asked again until it does or has had its time. */
import { Kept } from "../data/Kept.ts"
import type { Aim } from "../Load.ts"

const patienceMillis = 20_000
const pauseMillis = 200
/** A tunnel whose agent has not come may be silent, before its TLS or after it. */
const answerMillis = 1_000

const answered = async (aim: Aim) => {
  const opening = Kept.open(aim)
  const asking = opening
    .then((kept) => kept.get())
    .then(
      () => true,
      () => false
    )
  const silence = new Promise<false>((resolve) => void setTimeout(() => resolve(false), answerMillis).unref())
  const isAnswered = await Promise.race([asking, silence])
  // One that opens later is closed then.
  opening.then((kept) => kept.close()).catch(() => undefined)
  return isAnswered
}

export const serves = async (aims: ReadonlyArray<Aim>): Promise<boolean> => {
  const open = new Set(aims)
  const until = performance.now() + patienceMillis
  while (open.size > 0 && performance.now() < until) {
    for (const aim of open) if (await answered(aim)) open.delete(aim)
    if (open.size > 0) await new Promise((resolve) => setTimeout(resolve, pauseMillis))
  }
  return open.size === 0
}
