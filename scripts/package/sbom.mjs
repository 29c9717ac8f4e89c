/** The bill of materials of an asset, CycloneDX 1.6 in JSON: the npm packages of the lock file, Node, and Debian's packages. */
import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { join } from "node:path"
import { root } from "../node.mjs"
import { closure } from "./lock.mjs"

const { Enums, Models, SPDX, Serialize, Spec } = createRequire(join(root, "tools", "sbom", "package.json"))(
  "@cyclonedx/cyclonedx-library"
)

const licenseOf = (text) => {
  if (SPDX.isSupportedSpdxId(text)) return new Models.SpdxLicense(text)
  return /^\(|\b(?:AND|OR|WITH)\b/u.test(text) ? new Models.LicenseExpression(text) : new Models.NamedLicense(text)
}

const component = (type, name, { hashes = [], license, ...rest }) =>
  new Models.Component(type, name, {
    ...rest,
    bomRef: rest.purl,
    hashes: new Models.HashDictionary(hashes),
    licenses: new Models.LicenseRepository(license === undefined ? [] : [licenseOf(license)])
  })

const { Application, Library, Platform } = Enums.ComponentType

const ofNpm = ({ license, name, sha512, version }) => {
  const [group, short] = name.startsWith("@") ? name.split("/") : [undefined, name]
  return component(Library, short, {
    group,
    version,
    license,
    purl: `pkg:npm/${group === undefined ? "" : `${encodeURIComponent(group)}/`}${short}@${version}`,
    hashes: sha512 === undefined ? [] : [[Enums.HashAlgorithm["SHA-512"], sha512]]
  })
}

const ofDebian = ({ architecture, name, sha256, version }) =>
  component(Library, name, {
    group: "debian",
    version,
    purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
    hashes: [[Enums.HashAlgorithm["SHA-256"], sha256]]
  })

/** Numbers that Node names beside those of its parts: of itself, of interfaces and of tables. */
const notParts = new Set(["cldr", "modules", "napi", "node", "tz", "unicode"])

/** Node out of its npm package, and what it is compiled of, where the Node that runs this is of the same version. */
const ofNode = (name) => {
  const [{ license, sha512, version }] = closure(`node_modules/${name}`)
  const node = component(Platform, name, {
    version,
    license,
    purl: `pkg:npm/${name}@${version}`,
    hashes: [[Enums.HashAlgorithm["SHA-512"], sha512]]
  })
  const parts = process.versions.node === version ? Object.entries(process.versions) : []
  for (const [part, its] of parts)
    if (its !== "" && !notParts.has(part))
      node.components.add(component(Library, part, { version: its, purl: `pkg:generic/${part}@${its}` }))
  return node
}

/** A number of the bill that is always the same for the same asset. */
const serialOf = (digest) => {
  const hex = createHash("sha256").update(`sbom ${digest}`).digest("hex")
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The bill, as text. `node` is the npm package of the Node inside, `debian` the packages around the program. */
export const bill = ({ asset, debian = [], digest, node, time, version }) => {
  const parts = closure("packages/agent")
  const own = parts.find(({ place }) => place === "packages/agent")
  const subject = component(Application, asset, {
    version,
    license: own.license,
    purl: `pkg:generic/ct-agent@${version}?file=${encodeURIComponent(asset)}`,
    hashes: [[Enums.HashAlgorithm["SHA-256"], digest]]
  })
  const byPlace = new Map(parts.map((part) => [part.place, ofNpm(part)]))
  for (const { needs, place } of parts)
    for (const need of needs) byPlace.get(place).dependencies.add(byPlace.get(need).bomRef)
  const around = [...(node === undefined ? [] : [ofNode(node)]), ...debian.map(ofDebian)]
  for (const { bomRef } of [byPlace.get(own.place), ...around]) subject.dependencies.add(bomRef)
  const bom = new Models.Bom({
    serialNumber: serialOf(digest),
    metadata: new Models.Metadata({ component: subject, timestamp: new Date(time * 1000) }),
    components: new Models.ComponentRepository([...byPlace.values(), ...around])
  })
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6))
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`
}
