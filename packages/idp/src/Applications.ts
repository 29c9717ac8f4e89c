/**
 * Applications that the realm has not declared, such as clients of MCP servers: they register themselves (RFC 7591), or their id is the
 * address of a document that describes them (Client ID Metadata Documents). A person agrees to each of their sign-ins, and their tokens
 * are for the host of one tunnel (RFC 8707), never for the control plane.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Scheduler } from "@catenet/platform/Scheduler"
import { TokenBuckets } from "@catenet/platform/TokenBuckets"
import Provider, { type AdapterPayload, type ClientMetadata, errors, interactionPolicy } from "oidc-provider"
import type { RealmState } from "./RealmState.ts"

/** Applications that have registered themselves and to which nobody has agreed yet. */
export const maxRegistered = 2000
/** Applications that have registered themselves and to which somebody has agreed. */
export const maxAgreed = 20_000
const registrationsPerMinute = 20

/** What an application may do: sign a person in, and stay signed in. */
const grants = new Set(["authorization_code", "refresh_token"])

/** Whether an application gets no grant beyond those. */
export const isModest = ({ grant_types = [] }: Pick<ClientMetadata, "grant_types">): boolean =>
  grant_types.every((grant) => grants.has(grant))

/** A resource indicator that names the host of a tunnel. */
export const isHost = (resource: string): boolean => /^https:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?\/?$/u.test(resource)

class TooManyRegistrations extends errors.OIDCProviderError {
  override readonly error_description = "Too many applications were registered from this network"
  constructor() {
    super(429, "slow_down")
  }
}

interface Registered {
  readonly payload: AdapterPayload
  /** Gives the place back. */
  readonly leave: () => void
}

/** Where nothing is kept but in memory. */
const unkept: Pick<RealmState["applications"], "holderOf" | "remove"> = {
  holderOf: (network) => network,
  remove: async () => undefined
}

/**
 * At hand in memory, as the realm's state keeps them. Until somebody has agreed to a sign-in, an application has one of the places that
 * networks share; from then on it has one of those that accounts share, which no stranger can take.
 */
export class Registrations {
  readonly #kept: typeof unkept
  readonly #places = new FairPlaces(maxRegistered)
  readonly #agreedPlaces = new FairPlaces(maxAgreed)
  readonly #rate = new TokenBuckets(registrationsPerMinute)
  /** Oldest first. */
  readonly #waiting = new Map<string, Registered>()
  readonly #agreed = new Map<string, Registered>()

  constructor(kept = unkept) {
    this.#kept = kept
  }

  static async open(kept: RealmState["applications"]): Promise<Registrations> {
    const registrations = new Registrations(kept)
    for (const { agreed, holder, id, payload } of await kept.all()) {
      registrations.#take(id, holder, payload as AdapterPayload)
      if (agreed !== undefined) registrations.agreed(id, agreed.by, agreed.seconds)
    }
    return registrations
  }

  find(id: string): AdapterPayload | undefined {
    return (this.#agreed.get(id) ?? this.#waiting.get(id))?.payload
  }

  /** `from` is the network that registers it. Answers by what it is kept. */
  add(id: string, payload: AdapterPayload, from = addressBlock(Provider.ctx?.req.socket.remoteAddress ?? "")): string {
    if (!isModest(payload))
      throw new errors.InvalidClientMetadata("grant_types may have authorization_code and refresh_token")
    if (!this.#rate.take(from, Scheduler.monotonicMillis()).allowed) throw new TooManyRegistrations()
    const holder = this.#kept.holderOf(from)
    if (!this.#take(id, holder, payload)) throw new TooManyRegistrations()
    return holder
  }

  #take(id: string, from: string, payload: AdapterPayload): boolean {
    const holder = { isIdle: () => true, evict: () => this.#drop(this.#waiting, id) }
    // Where every place is another network's, a network that has none still gets the place of the oldest.
    const leave =
      this.#places.take(from, holder) ??
      (this.#places.heldBy(from) === 0 && this.#dropOldest() ? this.#places.take(from, holder) : undefined)
    if (leave === undefined) return false
    this.#waiting.set(id, { payload, leave })
    return true
  }

  /** Somebody has agreed to a sign-in of an application, which holds for so many seconds. */
  agreed(id: string, accountId: string, seconds: number): void {
    const known = this.#agreed.get(id) ?? this.#waiting.get(id)
    if (known === undefined) return
    const ends = Scheduler.monotonicMillis() + seconds * 1000
    const holder = {
      isIdle: () => ends <= Scheduler.monotonicMillis(),
      evict: () => this.#drop(this.#agreed, id)
    }
    const leave = this.#agreedPlaces.take(accountId, holder)
    if (leave === undefined) return
    known.leave()
    this.#waiting.delete(id)
    this.#agreed.set(id, { payload: known.payload, leave })
  }

  #dropOldest(): boolean {
    const [oldest] = this.#waiting
    if (oldest === undefined) return false
    const [id, { leave }] = oldest
    leave()
    this.#drop(this.#waiting, id)
    return true
  }

  #drop(from: Map<string, Registered>, id: string): void {
    from.delete(id)
    // It is gone from memory at once; one that could not be removed comes back at the next start.
    void this.#kept.remove(id).catch(() => undefined)
  }
}

/** Sign-ins that a person has to agree to; `isDeclared` tells the realm's own clients. */
export const consented = (isDeclared: (clientId: string) => boolean) => {
  const policy = interactionPolicy.base()
  const { Check } = interactionPolicy
  const mustAgree = new Check("application", "people agree to each sign-in of an application", ({ oidc }) =>
    isDeclared(oidc.client?.clientId ?? "") || oidc.result?.consent !== undefined
      ? Check.NO_NEED_TO_PROMPT
      : Check.REQUEST_PROMPT
  )
  policy.get("consent")?.checks.add(mustAgree)
  return policy
}

/** What a person is asked to agree to. */
export interface Request {
  /** As the application calls itself. */
  readonly name: string
  /** Where its document is, if its id is the address of one. */
  readonly site: string | undefined
  /** Where the browser is sent with the answer; undefined for a program on the person's own machine. */
  readonly returnsTo: string | undefined
  readonly resource: string
}

const hostOf = (address: unknown) =>
  typeof address === "string" && URL.canParse(address) ? new URL(address) : undefined

/** The request behind a prompt. */
export const requestOf = (
  clientId: string,
  name: string | undefined,
  params: Readonly<Record<string, unknown>>
): Request => {
  const returns = hostOf(params["redirect_uri"])
  const isLocal = returns !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])$/u.test(returns.hostname)
  return {
    name: (name ?? clientId).slice(0, 100),
    site: clientId.startsWith("https://") ? hostOf(clientId)?.host : undefined,
    returnsTo: isLocal ? undefined : returns?.protocol === "https:" ? returns.host : returns?.protocol,
    resource: hostOf(params["resource"])?.host ?? ""
  }
}
