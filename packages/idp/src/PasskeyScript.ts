/** The one script of the provider's pages: it asks the browser for a passkey, and sends the answer in the page's form. */
export const passkeyScript = `"use strict"
const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0))
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
const create = async ({ algorithms, challenge, exclude, name, site, user }) => {
  const { id, response } = await navigator.credentials.create({
    publicKey: {
      rp: { id: site, name: "Catenet" },
      user: { id: new TextEncoder().encode(user), name, displayName: name },
      challenge: bytes(challenge),
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: exclude.map((each) => ({ type: "public-key", id: bytes(each) })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none"
    }
  })
  return {
    id,
    clientData: text(response.clientDataJSON),
    authenticatorData: text(response.getAuthenticatorData()),
    publicKey: text(response.getPublicKey()),
    algorithm: response.getPublicKeyAlgorithm()
  }
}
const get = async ({ challenge, site }) => {
  const { id, response } = await navigator.credentials.get({
    publicKey: { challenge: bytes(challenge), rpId: site, userVerification: "required" }
  })
  return {
    id,
    clientData: text(response.clientDataJSON),
    authenticatorData: text(response.authenticatorData),
    signature: text(response.signature),
    userHandle: text(response.userHandle)
  }
}
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue
  const options = JSON.parse(form.dataset.passkey)
  const failed = form.querySelector("[role=alert]")
  form.hidden = false
  form.addEventListener("submit", async (event) => {
    event.preventDefault()
    failed.hidden = true
    try {
      form.elements.passkey.value = JSON.stringify(await (options.user ? create : get)(options))
      form.submit()
    } catch {
      failed.hidden = false
    }
  })
}
`
