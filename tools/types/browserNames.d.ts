/**
 * Names of a browser's library that declarations of our dependencies mention, for a program that has no browser: what drives or
 * examines a browser in tests (playwright-core, axe-core), the decoder of QR codes, and parts of effect that run in both. Empty,
 * so that nothing of ours can use them; the two that Node has too are Node's.
 */
import type { webcrypto } from "node:crypto"
import type { Transferable as NodeTransferable } from "node:worker_threads"

declare global {
  type JsonWebKey = webcrypto.JsonWebKey
  type Transferable = NodeTransferable
  interface DOMRect {}
  interface DOMRectReadOnly {}
  interface Document {}
  interface Element {}
  interface HTMLElement {}
  interface HTMLElementTagNameMap {}
  interface Node {}
  interface NodeList {}
  interface SVGElement {}
  interface Window {}
  type ImageBitmapSource = never
}
