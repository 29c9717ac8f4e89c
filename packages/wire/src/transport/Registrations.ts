/** Registrations of one multiplexed session, the asking half (agent) and the answering half (edge). */
import { Result } from "effect"
import type { CertificateState, HostCertificate } from "../frames/MuxCertificate.ts"
import type { ControlFrame, SendableFrame } from "../frames/MuxFrame.ts"
import type { Refusal, Registered, RegisterRequest } from "../frames/MuxRegister.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"

/** A registration the edge accepted. */
export interface Registration {
  readonly id: number
  readonly answer: Registered
  /** The edge ended it, or the session closed (code `closed`). */
  readonly ended: Promise<Refusal>
  /** The agent no longer wants it. */
  readonly withdraw: () => void
  /** Says to the edge what has changed of the certificate for one of the hosts. An edge of before skips it. */
  readonly report: (certificate: HostCertificate) => void
  /** Calls back whenever the edge says that the policy of the tunnel has changed. */
  readonly onPolicy: (changed: (revision: bigint) => void) => void
}

/** A registration the edge has to answer: exactly one of `accept` and `refuse`; later calls have no effect. */
export interface InboundRegistration {
  readonly id: number
  readonly request: RegisterRequest
  /** What the agent has said last of its certificates, by host; it changes with what the agent says. */
  readonly certificates: ReadonlyMap<string, CertificateState>
  /** The agent has said something else of a certificate. */
  readonly onCertificate: (changed: () => void) => void
  /** Says to an agent that enforces it that the policy of its tunnel has changed. */
  readonly announce: (revision: bigint) => void
  readonly accept: (answer: Registered) => void
  readonly refuse: (refusal: Refusal) => void
  /** Ends an accepted registration, for instance because its token was revoked. */
  readonly end: (refusal: Refusal) => void
  /** The agent withdrew it, or the session closed. */
  readonly withdrawn: Promise<void>
}

type Send = (frame: SendableFrame) => void

interface Asked {
  readonly answer: (result: Result.Result<Registration, Refusal>) => void
  end: ((refusal: Refusal) => void) | undefined
  policyChanged: (revision: bigint) => void
}

/** The agent's half. */
export class OwnRegistrations {
  readonly #send: Send
  readonly #asked = new Map<number, Asked>()
  #nextId = 1

  constructor(send: Send) {
    this.#send = send
  }

  register(request: RegisterRequest): Promise<Result.Result<Registration, Refusal>> {
    const id = this.#nextId++
    return new Promise((answer) => {
      this.#asked.set(id, { answer, end: undefined, policyChanged: () => undefined })
      this.#send({ _tag: "Register", id, request })
    })
  }

  /** `false` when the edge answered what was not asked. */
  receive(frame: Extract<ControlFrame, { readonly _tag: "Registered" | "Refused" }>): boolean {
    const asked = this.#asked.get(frame.id)
    if (asked === undefined) return frame.id < this.#nextId && frame._tag === "Refused"
    if (frame._tag === "Refused") {
      this.#asked.delete(frame.id)
      if (asked.end === undefined) asked.answer(Result.fail(frame.refusal))
      else asked.end(frame.refusal)
      return true
    }
    if (asked.end !== undefined) return false
    const ended = new Promise<Refusal>((end) => {
      asked.end = end
    })
    const { answer, id } = frame
    asked.answer(
      Result.succeed({
        id,
        answer,
        ended,
        withdraw: () => this.#withdraw(id),
        report: (certificate) => this.#say(id, certificate),
        onPolicy: (changed) => {
          asked.policyChanged = changed
        }
      })
    )
    return true
  }

  policyChanged(id: number, revision: bigint): void {
    this.#asked.get(id)?.policyChanged(revision)
  }

  has(id: number): boolean {
    return this.#asked.has(id)
  }

  abandon(sentence: string): void {
    const refusal: Refusal = { code: "closed", sentence }
    for (const asked of this.#asked.values()) {
      if (asked.end === undefined) asked.answer(Result.fail(refusal))
      else asked.end(refusal)
    }
    this.#asked.clear()
  }

  #say(id: number, certificate: HostCertificate): void {
    if (this.#asked.has(id)) this.#send({ _tag: "Certificate", id, certificate })
  }

  #withdraw(id: number): void {
    const asked = this.#asked.get(id)
    if (asked === undefined) return
    this.#asked.delete(id)
    asked.end?.({ code: "closed", sentence: "withdrawn by the agent" })
    this.#send({ _tag: "Withdraw", id })
  }
}

interface Held {
  readonly drop: () => void
  readonly certificates: Map<string, CertificateState>
  readonly hosts: ReadonlyArray<string>
  changed: () => void
}

/** The edge's half. */
export class PeerRegistrations {
  readonly #send: Send
  readonly #most: number
  readonly #onRegister: ((registration: InboundRegistration) => void) | undefined
  readonly #onFault: OnFault
  readonly #held = new Map<number, Held>()
  #lastId = 0

  constructor(
    send: Send,
    most: number,
    onRegister: ((registration: InboundRegistration) => void) | undefined,
    onFault: OnFault
  ) {
    this.#send = send
    this.#most = most
    this.#onRegister = onRegister
    this.#onFault = onFault
  }

  /** `false` when the agent broke the protocol. */
  receive(frame: Extract<ControlFrame, { readonly _tag: "Register" | "Withdraw" | "Certificate" }>): boolean {
    const { id } = frame
    if (frame._tag === "Certificate") {
      this.#said(id, frame.certificate)
      return id <= this.#lastId
    }
    if (frame._tag === "Withdraw") {
      if (id > this.#lastId) return false
      this.#drop(id)
      return true
    }
    if (id <= this.#lastId) return false
    this.#lastId = id
    if (this.#onRegister === undefined) {
      this.#refuse(id, { code: "malformed", sentence: "This side takes no registrations." })
    } else if (this.#held.size >= this.#most) {
      this.#refuse(id, { code: "full", sentence: `One session carries at most ${this.#most} registrations.` })
    } else this.#ask(this.#onRegister, this.#inbound(id, frame.request))
    return true
  }

  /** What fails to judge a registration must not cost the others of the session. */
  #ask(onRegister: (registration: InboundRegistration) => void, inbound: InboundRegistration): void {
    const failed: OnFault = (error) => {
      this.#onFault(error)
      inbound.end({ code: "internal", sentence: "the registration could not be judged" })
    }
    guarded(failed, onRegister)(inbound)
  }

  abandon(): void {
    for (const id of this.#held.keys()) this.#drop(id)
  }

  #inbound(id: number, request: RegisterRequest): InboundRegistration {
    const certificates = new Map((request.certificates ?? []).map(({ host, ...state }) => [host, state]))
    for (const host of certificates.keys()) if (!request.hosts.includes(host)) certificates.delete(host)
    const held: Held = { drop: () => undefined, certificates, hosts: request.hosts, changed: () => undefined }
    const withdrawn = new Promise<void>((drop) => {
      this.#held.set(id, Object.assign(held, { drop }))
    })
    let answered = false
    const once = (act: () => void) => {
      if (answered || !this.#held.has(id)) return
      answered = true
      act()
    }
    const end = (refusal: Refusal) => {
      if (!this.#held.has(id)) return
      this.#refuse(id, refusal)
      this.#drop(id)
    }
    return {
      id,
      request,
      withdrawn,
      certificates,
      onCertificate: (changed) => {
        held.changed = guarded(this.#onFault, changed)
      },
      announce: (revision) => {
        if (answered && this.#held.has(id)) this.#send({ _tag: "Policy", id, revision })
      },
      accept: (answer) => once(() => this.#send({ _tag: "Registered", id, answer })),
      refuse: (refusal) => once(() => end(refusal)),
      end
    }
  }

  /** A registration that was refused or has ended meanwhile says nothing more, nor is a host heard that is not its own. */
  #said(id: number, { host, ...state }: HostCertificate): void {
    const held = this.#held.get(id)
    if (held?.hosts.includes(host) !== true) return
    held.certificates.set(host, state)
    held.changed()
  }

  #refuse(id: number, refusal: Refusal): void {
    this.#send({ _tag: "Refused", id, refusal })
  }

  #drop(id: number): void {
    const held = this.#held.get(id)
    this.#held.delete(id)
    held?.drop()
  }
}
