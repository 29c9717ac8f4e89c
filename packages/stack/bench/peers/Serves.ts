/** Whether a tunnel carries a visitor to the origin, asked again until it does or has had its time. */
import { Kept } from "../data/Kept.ts"
import type { Aim } from "../Load.ts"

const tries = 100
const pauseMillis = 200
/** A tunnel whose agent has not come may be silent. */
const patienceMillis = 1_000

const silence = () => new Promise<false>((resolve) => void setTimeout(() => resolve(false), patienceMillis).unref())

const answered = async (aim: Aim) => {
  let kept: Kept | undefined
  try {
    kept = await Kept.open(aim)
    return await Promise.race([kept.get().then(() => true), silence()])
  } catch {
    return false
  } finally {
    kept?.close()
  }
}

export const serves = async (aims: ReadonlyArray<Aim>): Promise<boolean> => {
  const open = new Set(aims)
  for (let count = 0; count < tries && open.size > 0; count++) {
    for (const aim of open) if (await answered(aim)) open.delete(aim)
    if (open.size > 0) await new Promise((resolve) => setTimeout(resolve, pauseMillis))
  }
  return open.size === 0
}
