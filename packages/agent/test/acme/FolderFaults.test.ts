/** Faults of the disk on which an agent keeps its certificate, at the time of a renewal: it says what is wrong, and nothing is lost. */
import * as PassingTime from "@catenet/testing/agent/PassingTime"
import * as AcmeStage from "@catenet/testing/stack/acme/AcmeStage"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { createPrivateKey, X509Certificate } from "node:crypto"
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import * as CertificateLoop from "../../src/certificate/CertificateLoop.ts"
import type { CertificateProgress } from "../../src/certificate/CertificateProgress.ts"
import * as CertificatePair from "../../src/tunnel/CertificatePair.ts"

const ordinaryUser = 65_534
const isRoot = process.getuid?.() === 0

const quietly = (command: string, ...args: ReadonlyArray<string>) => {
  try {
    execFileSync(command, args, { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

/** A small disk of its own at this folder, where this user may mount one. */
const mounted = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => isRoot && quietly("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder)),
    (isMounted) => Effect.sync(() => void (isMounted && quietly("umount", folder)))
  )

const canMount = isRoot && quietly("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt")
if (!canMount) process.stderr.write("\nSKIPPED: a full and a read-only disk need the right to mount one.\n\n")

interface Fault {
  readonly what: string
  /** Brings the fault about, and gives what mends it. */
  readonly put: (folder: string) => () => void
  readonly said: RegExp
  readonly needs?: "mount" | "root"
}

const linked = (name: string) => (folder: string) => {
  renameSync(`${folder}/${name}`, `${folder}/${name}.away`)
  symlinkSync(`${folder}/${name}.away`, `${folder}/${name}`)
  return () => renameSync(`${folder}/${name}.away`, `${folder}/${name}`)
}

const closed = (name: string) => (folder: string) => {
  const path = `${folder}/${name}`
  const { mode, uid } = statSync(path)
  if (isRoot) chownSync(path, 0, 0)
  chmodSync(path, isRoot ? 0o600 : 0)
  return () => {
    if (isRoot) chownSync(path, uid, -1)
    chmodSync(path, mode)
  }
}

const path = (name: string) => String.raw`certificate/${name.replaceAll(".", String.raw`\.`)}`

const faults: ReadonlyArray<Fault> = [
  {
    what: "a disk that is full",
    needs: "mount",
    put: (folder) => {
      try {
        for (let file = 0; ; file++) writeFileSync(`${folder}/filler-${file}`, Buffer.alloc(4096))
      } catch {
        return () => {
          for (const name of readdirSync(folder)) if (name.startsWith("filler")) rmSync(`${folder}/${name}`)
        }
      }
    },
    said: /certificate\/fullchain\.pem: ENOSPC: no space left on device\. Free some space on that disk\./
  },
  {
    what: "a disk that became read-only",
    needs: "mount",
    put: (folder) => {
      const again = (how: string) => as(0, () => quietly("mount", "-o", `remount,${how}`, folder))
      assert.isTrue(again("ro"))
      return () => assert.isTrue(again("rw"))
    },
    said: /: EROFS: read-only file system\. Mount that disk writable, or choose another folder\./
  },
  {
    what: "a folder that may only be read",
    put: (folder) => {
      chmodSync(folder, 0o500)
      return () => chmodSync(folder, 0o700)
    },
    said: /certificate\/\S+: EACCES: permission denied\. Make it and its folder readable and writable for this user\./
  },
  {
    what: "a folder of another user",
    needs: "root",
    put: (folder) => {
      chownSync(folder, 0, 0)
      return () => chownSync(folder, ordinaryUser, -1)
    },
    said: /: EACCES: permission denied\. Make it and its folder readable and writable for this user\./
  },
  ...["privkey.pem", "acme-account-key.der", "acme-state.json"].map((name) => ({
    what: `another user's ${name}`,
    put: closed(name),
    said: new RegExp(`${path(name)}: EACCES: permission denied`)
  })),
  {
    what: "a chain that is not this user's in a folder of many",
    needs: "root",
    put: (folder) => {
      chownSync(folder, 0, 0)
      chmodSync(folder, 0o1777)
      chownSync(`${folder}/fullchain.pem`, 0, 0)
      return () => {
        chownSync(`${folder}/fullchain.pem`, ordinaryUser, -1)
        chownSync(folder, ordinaryUser, -1)
        chmodSync(folder, 0o700)
      }
    },
    said: /certificate\/fullchain\.pem: EPERM: operation not permitted\. Make it and its folder/
  },
  ...["privkey.pem", "fullchain.pem", "acme-state.json"].map((name) => ({
    what: `a symbolic link at ${name}`,
    put: linked(name),
    said: new RegExp(`${path(name)}: it is a symbolic link\\. Remove it`)
  })),
  {
    what: "a symbolic link that leads nowhere at acme-account-key.der",
    put: (folder) => {
      const key = `${folder}/acme-account-key.der`
      renameSync(key, `${key}.away`)
      symlinkSync("/nowhere", key)
      return () => renameSync(`${key}.away`, key)
    },
    said: /certificate\/acme-account-key\.der: it is a symbolic link/
  },
  {
    what: "a symbolic link at the lock",
    put: linked(".acme.lock"),
    said: /certificate\/\.acme\.lock: ELOOP: .*\. It is a symbolic link: remove it\./
  },
  {
    what: "a folder at the lock",
    put: (folder) => {
      rmSync(`${folder}/.acme.lock`)
      mkdirSync(`${folder}/.acme.lock`)
      return () => rmSync(`${folder}/.acme.lock`, { recursive: true })
    },
    said: /certificate\/\.acme\.lock: EISDIR: .*\. Something else is in its place/
  }
]

/** Runs this as a user; the agent's own user is one to whom the system can refuse something. */
const as = <A>(user: number, run: () => A): A => {
  if (!isRoot) return run()
  const before = process.geteuid?.() ?? 0
  process.seteuid?.(0)
  process.seteuid?.(user)
  try {
    return run()
  } finally {
    process.seteuid?.(0)
    process.seteuid?.(before)
  }
}

/** Everything until the scope closes is done as an ordinary user. */
const asOrdinaryUser = Effect.acquireRelease(
  Effect.sync(() => void (isRoot && process.seteuid?.(ordinaryUser))),
  () => Effect.sync(() => void (isRoot && process.seteuid?.(0)))
)

describe("a renewal", () => {
  it.effect(
    "that the disk does not take is said with the path and what to do; the old one stays whole until it does",
    () =>
      Effect.gen(function* () {
        const clock = yield* TestClock.testClockWith(Effect.succeed)
        // The authority's own certificate is judged by the clock of this machine.
        yield* clock.setTime(yield* TestClock.withLive(Clock.currentTimeMillis))
        let orders = 0
        const stage = yield* AcmeStage.start({
          meddle: ({ path }, honest) => {
            if (path === "/new-order") orders++
            return honest()
          }
        })
        const { certificates, folder, layer, stateDir } = stage
        mkdirSync(folder)
        const isMounted = yield* mounted(folder)
        for (const each of isRoot ? [stateDir, folder] : []) chownSync(each, ordinaryUser, -1)
        chmodSync(folder, 0o700)
        yield* asOrdinaryUser
        const said: Array<string> = []
        const progress: CertificateProgress = {
          step: () => Effect.succeed(true),
          report: (words) => Effect.sync(() => void said.push(words))
        }
        yield* CertificateLoop.run({ ...certificates, progress }).pipe(Effect.provide(layer), Effect.forkScoped)
        /** Lets the time of the loop pass until it says something that it did not say before. */
        const next = Effect.fnUntraced(function* (pattern: RegExp) {
          const from = said.length
          const found = () => said.slice(from).some((words) => pattern.test(words))
          yield* TestClock.withLive(PassingTime.passing(clock, found)).pipe(
            Effect.onError(() => Effect.logError(`${pattern} was not said: ${said.slice(from).join("\n")}`))
          )
        })
        yield* next(/^is there until/)
        const pair = { certificate: `${folder}/fullchain.pem`, key: `${folder}/privkey.pem`, isAwaited: true }
        const served = yield* CertificatePair.watch(pair)
        const old = yield* served
        const files = () =>
          as(0, () => {
            const chain = readFileSync(pair.certificate)
            const leaf = new X509Certificate(chain)
            assert.isTrue(leaf.checkPrivateKey(createPrivateKey(readFileSync(pair.key))), "a pair")
            return {
              leaf: leaf.fingerprint256,
              names: readdirSync(folder).filter((name) => /\.(?:new|old)$/.test(name))
            }
          })
        const before = files()
        // The renewal is due from now on.
        yield* clock.adjust("61 days")
        for (const { needs, put, said, what } of faults) {
          if (needs === "mount" ? !isMounted : needs === "root" && !isRoot) continue
          const mend = as(0, () => put(folder))
          yield* next(said)
          const { leaf, names } = files()
          assert.strictEqual(leaf, before.leaf, what)
          assert.deepStrictEqual(names, [], what)
          yield* clock.adjust("31 seconds")
          assert.strictEqual(yield* served, old, `${what}: the old one is served`)
          as(0, mend)
        }
        yield* next(/^is there until/)
        assert.notStrictEqual(files().leaf, before.leaf)
        assert.deepStrictEqual(files().names, [])
        yield* clock.adjust("31 seconds")
        assert.notStrictEqual(yield* served, old)
        assert.strictEqual(stage.plane.completes, 2)
        assert.strictEqual(orders, 2, "one of them was continued over all faults")
      }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
