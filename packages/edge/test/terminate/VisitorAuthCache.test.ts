import { VisitorAuthCache, type Known } from "@catenet/proxy/internal/gate/VisitorAuthCache"
import { assert, describe, it } from "@effect/vitest"

const in30s = 30_000
const known = (identity: string | null, until: number | null = null): Known => ({ identity, until, signIn: null })

/** Answers of a control plane that a test answers for, at a time that it sets. */
const world = (answer: (host: string, session: string | undefined) => Promise<Known>) => {
  const asked: Array<string> = []
  const time = { now: 0 }
  const cache = new VisitorAuthCache(
    (host, session) => {
      asked.push(`${host} ${session}`)
      return answer(host, session)
    },
    () => time.now
  )
  const answers = {
    of: (token: string, host: string, session: string | undefined, address?: string, isSigned = false) =>
      cache.of({ token, host, session, address, isSigned }),
    forget: (token: string) => cache.forget(token)
  }
  return { answers, asked, time }
}

const later = () => {
  const questions: Array<(known: Known) => void> = []
  return { questions, answer: () => new Promise<Known>((resolve) => void questions.push(resolve)) }
}

describe("the cached check of a visitor", () => {
  it("is cached for 30 s, or until the session expires, and used 30 s more while it is requested again", async () => {
    const { answers, asked, time } = world(async (_, session) =>
      known(session ?? null, session === "short" ? 5_000 : null)
    )
    for (const [session, most] of [
      ["long", in30s],
      ["short", 5_000],
      [undefined, in30s]
    ] as const) {
      asked.length = 0
      time.now = 0
      for (const at of [0, most - 1]) {
        time.now = at
        assert.strictEqual((await answers.of("t", "h", session))?.identity, session ?? null)
        assert.lengthOf(asked, 1)
      }
      time.now = most
      await answers.of("t", "h", session)
      assert.lengthOf(asked, 2)
    }
  })

  it("is refused for a second when the control plane does not answer, and never an older yes", async () => {
    let away = false
    const { answers, asked, time } = world(async () => {
      if (away) throw new Error("away")
      return known("vera")
    })
    assert.strictEqual((await answers.of("t", "h", "s"))?.identity, "vera")
    away = true
    time.now = 2 * in30s
    assert.isUndefined(await answers.of("t", "h", "s"))
    time.now += 999
    assert.isUndefined(await answers.of("t", "h", "s"))
    assert.lengthOf(asked, 2)
    time.now += 1
    away = false
    assert.strictEqual((await answers.of("t", "h", "s"))?.identity, "vera")
  })

  it("counts for one host, one session and one tunnel", async () => {
    const { answers, asked } = world(async (host, session) => known(`${session}@${host}`))
    assert.strictEqual((await answers.of("t", "a", "s"))?.identity, "s@a")
    assert.strictEqual((await answers.of("t", "b", "s"))?.identity, "s@b")
    assert.strictEqual((await answers.of("t", "a", "r"))?.identity, "r@a")
    assert.lengthOf(asked, 3)
    await answers.of("u", "a", "s")
    assert.lengthOf(asked, 4, "the host has another tunnel now")
  })

  it("is requested once at a time, and again when an order cleared it meanwhile", async () => {
    const { answer, questions } = later()
    const { answers } = world(answer)
    const both = [answers.of("t", "h", "s"), answers.of("t", "h", "s")]
    assert.lengthOf(questions, 1)
    answers.forget("t")
    const after = answers.of("t", "h", "s")
    assert.lengthOf(questions, 2)
    questions[0]?.(known("vera"))
    questions[1]?.(known(null))
    for (const one of [...both, after]) assert.isNull((await one)?.identity, "the old yes reaches no visitor")
    answers.forget("u")
    assert.isNull((await answers.of("t", "h", "s"))?.identity)
    assert.lengthOf(questions, 2, "another tunnel's order changes nothing")
    answers.forget("t")
    void answers.of("t", "h", "s")
    assert.lengthOf(questions, 3)
  })

  it("has 32 requests at once for a tunnel, and other tunnels have their own", async () => {
    const { answer, questions } = later()
    const { answers } = world(answer)
    const open = Array.from({ length: 32 }, (_, n) => answers.of("t", "h", `${n}`))
    assert.isUndefined(await answers.of("t", "h", "one too many"))
    const other = answers.of("u", "i", "s")
    assert.lengthOf(questions, 33)
    for (const question of questions) question(known("vera"))
    for (const one of [...open, other]) assert.strictEqual((await one)?.identity, "vera")
    void answers.of("t", "h", "there is room again")
    assert.lengthOf(questions, 34)
  })

  it("of a session that was let in before does not wait for those of strangers, also after an order", async () => {
    const { answer, questions } = later()
    let asking = false
    const { answers, time } = world(async () => (asking ? answer() : known("vera")))
    await answers.of("t", "h", "vera's")
    asking = true
    answers.forget("t")
    for (let n = 0; n < 40; n++) void answers.of("t", "h", `random ${n}`)
    assert.lengthOf(questions, 32)
    const again = answers.of("t", "h", "vera's")
    assert.lengthOf(questions, 33)
    questions[32]?.(known("vera"))
    assert.strictEqual((await again)?.identity, "vera")
    time.now = in30s
    assert.strictEqual((await answers.of("t", "h", "vera's"))?.identity, "vera", "the old answer, meanwhile")
    assert.lengthOf(questions, 34, "when its answer is old, too")
    time.now = 2 * in30s
    let isAnswered = false
    void answers.of("t", "h", "vera's").then(() => (isAnswered = true))
    await Promise.resolve()
    assert.isFalse(isAnswered, "nothing is older than a minute")
  })

  it("an old yes is used no more once the newer answer is here, or an order came", async () => {
    let identity: string | null = "vera"
    const { answers, asked, time } = world(async () => known(identity))
    await answers.of("t", "h", "s")
    identity = null
    time.now = in30s
    assert.strictEqual((await answers.of("t", "h", "s"))?.identity, "vera")
    await new Promise(setImmediate)
    assert.isNull((await answers.of("t", "h", "s"))?.identity)
    identity = "vera"
    time.now = 3 * in30s
    await answers.of("t", "h", "s")
    identity = null
    time.now = 4 * in30s
    answers.forget("t")
    assert.isNull((await answers.of("t", "h", "s"))?.identity)
    assert.lengthOf(asked, 4)
  })

  it("of strangers of one address takes 8 of a tunnel's 32 requests; a stranger of another address is asked about", async () => {
    const { answer, questions } = later()
    const { answers } = world(answer)
    for (let n = 0; n < 100; n++) void answers.of("t", "h", `random ${n}`, "attacker")
    assert.lengthOf(questions, 8)
    void answers.of("t", "h", "vera's", "elsewhere")
    assert.lengthOf(questions, 9)
    void answers.of("u", "i", "random", "attacker")
    assert.lengthOf(questions, 10, "at another tunnel it has others")
  })

  it("of a signed session does not wait for those of strangers, and has 16 of 32 requests for each address", async () => {
    const { answer, questions } = later()
    const { answers } = world(answer)
    for (let n = 0; n < 100; n++) void answers.of("t", "h", `random ${n}`, `attacker ${n}`)
    assert.lengthOf(questions, 32)
    for (let n = 0; n < 17; n++) void answers.of("t", "h", `signed ${n}`, "office", true)
    assert.lengthOf(questions, 32 + 16)
    assert.isUndefined(await answers.of("t", "h", "signed 16", "office", true))
    for (let n = 0; n < 17; n++) void answers.of("t", "h", `elsewhere ${n}`, `elsewhere ${n}`, true)
    assert.lengthOf(questions, 32 + 32)
    void answers.of("t", "h", undefined, "newcomer")
    assert.lengthOf(questions, 32 + 32 + 1, "who has no session yet learns where to sign in")
  })

  it("of strangers of one address is requested 600 times a minute at most; known sessions of it go on", async () => {
    const { answers, asked, time } = world(async (_, session) => known(session === "vera's" ? "vera" : null))
    await answers.of("t", "h", "vera's", "office")
    for (let n = 0; n < 1_000; n++) await answers.of(`t${n % 10}`, "h", `random ${n}`, "office")
    assert.lengthOf(asked, 600)
    time.now = 2 * in30s - 1
    answers.forget("t")
    assert.strictEqual((await answers.of("t", "h", "vera's", "office"))?.identity, "vera")
    assert.isNull((await answers.of("t", "h", "random", "elsewhere"))?.identity)
    assert.lengthOf(asked, 602)
    time.now += 60_000
    assert.isNull((await answers.of("t", "h", "random 999", "office"))?.identity)
  })

  it("of a visitor is not forgotten for strangers, nor for visitors of a tunnel with fewer", async () => {
    const { answers, asked } = world(async (_, session) =>
      known(session?.startsWith("random") === true ? null : "vera")
    )
    await answers.of("small", "h", "s")
    for (let n = 0; n < 10_000; n++) await answers.of("large", "h", `${n}`)
    for (let n = 0; n < 10_001; n++) await answers.of("large", "h", `random ${n}`)
    asked.length = 0
    await answers.of("small", "h", "s")
    await answers.of("large", "h", "1")
    assert.lengthOf(asked, 0)
    await answers.of("large", "h", "0")
    assert.lengthOf(asked, 1, "the oldest of the tunnel with the most made room")
  })

  it("is cached for the newest 10,000 visitors", async () => {
    const { answers, asked } = world(async () => known("vera"))
    for (let n = 0; n < 10_000; n++) await answers.of("t", "h", `${n}`)
    await answers.of("t", "h", "0")
    assert.lengthOf(asked, 10_000)
    await answers.of("t", "h", "10000")
    await answers.of("t", "h", "1")
    assert.lengthOf(asked, 10_001)
    await answers.of("t", "h", "0")
    assert.lengthOf(asked, 10_002, "the oldest made room")
  })

  it("is never older than a minute or than the last order, in any history of events", async () => {
    for (let seed = 1; seed <= 200; seed++) {
      let state = seed
      const pick = (most: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return Math.floor((state / 2_147_483_648) * most)
      }
      const truth = new Map<string, number>()
      const asked = new Map<string, number>()
      const { answers, time } = world(async (host) => {
        asked.set(host, time.now)
        return known(`${truth.get(host) ?? 0}`)
      })
      for (let step = 0; step < 60; step++) {
        const tunnel = `t${pick(3)}`
        if (pick(4) === 0) time.now += pick(20_000)
        if (pick(4) === 0) {
          truth.set(tunnel, step)
          answers.forget(tunnel)
        }
        const seen = await answers.of(tunnel, tunnel, "s")
        assert.strictEqual(seen?.identity, `${truth.get(tunnel) ?? 0}`, `seed ${seed}, step ${step}`)
        assert.isBelow(time.now - (asked.get(tunnel) ?? 0), 2 * in30s)
      }
    }
  })
})
