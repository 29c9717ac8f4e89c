/** How long the joins of honest members take, from the first packet to the acknowledgement of both. */
import * as Members from "../Members.ts"

type Place = Parameters<typeof Members.join>[0] & Parameters<typeof Members.register>[0]

/** Milliseconds of each join made within so much time, at least one. */
export const joinLatencies = async (place: Place, millis: number): Promise<ReadonlyArray<number>> => {
  const seen: Array<number> = []
  const until = performance.now() + millis
  do {
    const channel = Members.channel()
    const [waiting, coming] = [Members.member(channel), Members.member(channel)]
    Members.register(place, waiting, coming)
    const first = await Members.join(place, waiting)
    const from = performance.now()
    const second = await Members.join(place, coming)
    await Promise.all([Members.acknowledged(first), Members.acknowledged(second)])
    seen.push(performance.now() - from)
    for (const { socket } of [first, second]) socket.destroy()
  } while (performance.now() < until)
  return seen
}
