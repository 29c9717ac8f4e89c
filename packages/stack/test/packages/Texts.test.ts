/** What packages are as text: the formula of Homebrew, the service of Windows, the bills of materials; and what is refused. */
import * as VariableReader from "@catenet/platform/VariableReader"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rolldown } from "rolldown"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { variables } from "../../../agent/src/settings/Variables.ts"
import { BuiltRelease, time } from "./BuiltRelease.ts"

const repository = join(import.meta.dirname, "../../../..")

interface Component {
  readonly name: string
  readonly group?: string
  readonly version: string
  readonly purl: string
  readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
  readonly licenses?: ReadonlyArray<unknown>
}

interface Bill {
  readonly metadata: { readonly timestamp: string; readonly component: Component }
  readonly components: ReadonlyArray<Component>
}

interface Validator {
  readonly validate: (text: string) => Promise<unknown>
}

describe("packages", () => {
  const work = mkdtempSync(join(tmpdir(), "catenet-texts-"))
  let release: BuiltRelease
  let said = ""

  beforeAll(async () => {
    release = await BuiltRelease.in(work)
    // A stand-in for the other systems' programs: what is read of them here is their digest.
    for (const other of ["ct-agent-darwin-aarch64", "ct-agent-windows-x86_64.exe"])
      writeFileSync(release.path(other), other)
    const made = await release.package("--only", "formula,windows,sbom", "--origin", "https://portal.example.net")
    assert.strictEqual(made.status, 0, made.said)
    said = made.said
  })
  afterAll(() => rmSync(work, { recursive: true, force: true }))

  const bill = (asset: string) => JSON.parse(release.read(`${asset}.cdx.json`)) as Bill

  it("say what they write", () => {
    for (const name of ["ct-agent.rb", "ct-agent-service.xml", `${release.asset}.cdx.json`, "agent.tgz.cdx.json"])
      assert.include(said, name)
  })

  it("have a formula whose programs are those of the release, by address and digest", () => {
    const formula = release.read("ct-agent.rb")
    const downloads = [...formula.matchAll(/url "(.*)"\n\s*sha256 "(.*)"/gu)].map(([, url, digest]) => [url, digest])
    const of = (asset: string) => [`https://portal.example.net/releases/0.1.0/${asset}`, release.sha256(asset)]
    assert.deepStrictEqual(downloads, [of("ct-agent-darwin-aarch64"), of(release.asset)])
    const words = formula.match(/\b(?:class|def|do|end)\b/gu) ?? []
    assert.strictEqual(words.filter((word) => word === "end").length * 2, words.length)
    for (const part of ["class CtAgent < Formula\n", '  version "0.1.0"\n', "  service do\n", "  test do\n"])
      assert.include(formula, part)
    const { error, status, stderr } = spawnSync("ruby", ["-c", release.path("ct-agent.rb")], { encoding: "utf8" })
    if (error !== undefined) process.stderr.write("SKIPPED: no ruby is here to read the formula\n")
    else assert.strictEqual(status, 0, stderr)
  })

  it("have a service of Windows that runs the program without rights, with variables that the agent reads", () => {
    const service = release.read("ct-agent-service.xml")
    const opened = [...service.matchAll(/<([a-zA-Z]+)(?: [^<>]*[^/])?>/gu)].map(([, tag]) => tag)
    const closed = [...service.matchAll(/<\/([a-zA-Z]+)>/gu)].map(([, tag]) => tag)
    assert.sameMembers(opened, closed)
    assert.include(service, "<executable>%BASE%\\ct-agent-windows-x86_64.exe</executable>")
    assert.include(service, "<user>LocalService</user>")
    const names = [...service.matchAll(/<env name="([^"]*)"/gu)].map(([, name = ""]) => name)
    assert.isNotEmpty(names)
    assert.includeMembers([...VariableReader.namesOf(variables)], names)
    const { error, status, stderr } = spawnSync("python3", [
      "-c",
      "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])",
      release.path("ct-agent-service.xml")
    ])
    if (error !== undefined) process.stderr.write("SKIPPED: no python3 is here to read the service of Windows\n")
    else assert.strictEqual(status, 0, String(stderr))
  })

  it("have bills of materials that hold to the schema of CycloneDX 1.6, strictly", async () => {
    const { Spec, Validation } = createRequire(join(repository, "tools/sbom/package.json"))(
      "@cyclonedx/cyclonedx-library"
    ) as {
      Spec: { Version: { v1dot6: string } }
      Validation: { JsonStrictValidator: new (version: string) => Validator }
    }
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
    for (const asset of [release.asset, "agent.tgz"]) {
      const text = release.read(`${asset}.cdx.json`)
      assert.isNull(await validator.validate(text), asset)
      assert.isNotNull(await validator.validate(text.replace('"version": 1,', '"version": 0,')))
      const { metadata } = bill(asset)
      assert.strictEqual(metadata.timestamp, new Date(time * 1000).toISOString())
      assert.deepStrictEqual(metadata.component.hashes, [{ alg: "SHA-256", content: release.sha256(asset) }])
    }
  })

  it("name every package that the program is bundled of, and Node, with digest and licence of the lock file", async () => {
    const bundle = await rolldown({
      input: join(repository, "packages/agent/src/main.ts"),
      platform: "node",
      logLevel: "silent"
    })
    const { output } = await bundle.generate({ format: "esm", codeSplitting: false })
    await bundle.close()
    const named = new Map(
      bill(release.asset).components.map((one) => [[one.group, one.name].filter(Boolean).join("/"), one])
    )
    const bundled = new Set(
      output
        .flatMap((chunk) => ("moduleIds" in chunk ? chunk.moduleIds : []))
        .map((id) => {
          const own = /\/packages\/([^/]+)\/src\//u.exec(id)?.[1]
          return own === undefined
            ? /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/u.exec(id)?.[1]
            : `@catenet/${own}`
        })
    )
    bundled.delete(undefined)
    assert.isAbove(bundled.size, 5)
    assert.includeMembers([...named.keys()], [...bundled] as Array<string>)
    const lock = JSON.parse(readFileSync(join(repository, "package-lock.json"), "utf8")) as {
      packages: Record<string, { version: string; integrity: string }>
    }
    for (const [name, part] of named) {
      assert.isNotEmpty(part.licenses, name)
      if (name.startsWith("@catenet/")) continue
      const entries = Object.entries(lock.packages).filter(([place]) => place.endsWith(`node_modules/${name}`))
      const locked = entries.find(([, { version }]) => version === part.version)?.[1]
      assert.isDefined(locked, name)
      const digest = Buffer.from(locked?.integrity.replace("sha512-", "") ?? "", "base64").toString("hex")
      assert.deepStrictEqual(part.hashes, [{ alg: "SHA-512", content: digest }], name)
    }
    assert.isTrue([...named.keys()].some((name) => name.startsWith("node-")))
    assert.isFalse(
      bill("agent.tgz").components.some(({ name }) => name.startsWith("node-")),
      "Node is not in the npm package"
    )
  })

  it("are refused for what is no release, and for one that is signed", { timeout: 60_000 }, async () => {
    const unknown = await release.package("--only", "rpm")
    assert.deepStrictEqual(unknown, {
      status: 2,
      said: "There is no rpm; there are deb, image, formula, windows, sbom.\n"
    })
    const help = await release.package("--help")
    assert.strictEqual(help.status, 0)
    assert.include(help.said, "npm run package -- FOLDER/VERSION")
    writeFileSync(release.path("release-manifest.json"), "{}")
    const signed = await release.package("--only", "windows")
    assert.strictEqual(signed.status, 4)
    assert.match(signed.said, /0\.1\.0 is signed already: packages come before the signature, which lists them\.\n$/u)
  })
})
