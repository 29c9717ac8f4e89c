/**
 * The parked slots of tunnels that the control plane has not named. Anybody may mint such a token, so they get a small pool for
 * each address block and a tenth of all agents' connections together; who parks beyond that takes the place of the oldest.
 */
import type { EdgeSlot } from "@catenet/wire/transport/EdgeSlot"

/** One address block may have so many. */
export const UNNAMED_PER_BLOCK = 32

type Slot = Pick<EdgeSlot, "close">

export class UnnamedParks {
  /** In the order they came. */
  private readonly slots = new Map<Slot, string>()
  private readonly perBlock = new Map<string, Set<Slot>>()
  private readonly most: number

  constructor(agentConnections: number) {
    this.most = Math.max(1, Math.floor(agentConnections / 10))
  }

  get size(): number {
    return this.slots.size
  }

  /** Takes the slot in and closes the oldest where there is no room; says how many that were. */
  add(slot: Slot, block: string): number {
    const mine = this.perBlock.get(block) ?? new Set()
    this.perBlock.set(block, mine.add(slot))
    this.slots.set(slot, block)
    const oldest = mine.size > UNNAMED_PER_BLOCK ? mine : this.slots.size > this.most ? this.slots.keys() : []
    for (const evicted of oldest) {
      this.remove(evicted)
      evicted.close()
      return 1
    }
    return 0
  }

  /** The slot is gone, or carries a visitor. */
  remove(slot: Slot) {
    const block = this.slots.get(slot)
    if (block === undefined) return
    this.slots.delete(slot)
    const mine = this.perBlock.get(block)
    mine?.delete(slot)
    if (mine?.size === 0) this.perBlock.delete(block)
  }
}
