/** What somebody has who has overheard the join of a member: its bytes, and the signature of a challenge that is over. */
import * as Members from "../Members.ts"
import type { Target } from "./Flood.ts"

export const overhear = async (
  place: Parameters<typeof Members.join>[0] & Parameters<typeof Members.register>[0]
): Promise<Target["member"]> => {
  const member = Members.member(Members.channel())
  Members.register(place, member)
  const forged = Members.member({ ...Members.channel(), id: member.channel.id }, {}, member.seed)
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const peer = await Members.dial(place)
  peer.send(Members.joinFrame(member))
  const signature = Members.answer(member, await peer.take(32))
  peer.send(signature)
  peer.socket.destroy()
  return {
    join: hex(Members.joinFrame(member)),
    forged: hex(Members.joinFrame(forged)),
    grant: hex(member.grant),
    signature: hex(signature)
  }
}
