/**
 * Files, for code that runs before or beside the framework; everything else takes the `FileSystem` service. With the names of
 * Node's own functions: those that end with `Sync` return, the others promise. A seam (see `Seam`).
 */
import * as fs from "node:fs"
import * as promises from "node:fs/promises"

const now = {
  accessSync: fs.accessSync,
  appendFileSync: fs.appendFileSync,
  chmodSync: fs.chmodSync,
  chownSync: fs.chownSync,
  closeSync: fs.closeSync,
  cpSync: fs.cpSync,
  existsSync: fs.existsSync,
  fsyncSync: fs.fsyncSync,
  lchownSync: fs.lchownSync,
  lstatSync: fs.lstatSync,
  mkdirSync: fs.mkdirSync,
  openSync: fs.openSync,
  readFileSync: fs.readFileSync,
  readdirSync: fs.readdirSync,
  readlinkSync: fs.readlinkSync,
  realpathSync: fs.realpathSync,
  renameSync: fs.renameSync,
  rmSync: fs.rmSync,
  statSync: fs.statSync,
  statfsSync: fs.statfsSync,
  symlinkSync: fs.symlinkSync,
  writeFileSync: fs.writeFileSync,
  writeSync: fs.writeSync
}

const later = {
  access: promises.access,
  chmod: promises.chmod,
  copyFile: promises.copyFile,
  mkdir: promises.mkdir,
  open: promises.open,
  readFile: promises.readFile,
  readdir: promises.readdir,
  rename: promises.rename,
  rm: promises.rm,
  stat: promises.stat,
  writeFile: promises.writeFile
}

export const Files: Readonly<typeof now & typeof later> & { readonly constants: typeof fs.constants } = {
  ...now,
  ...later,
  constants: fs.constants
}
