/** Whether the authority of the user's own answers, and what it means to have one. */
import { ended } from "@catenet/domain/values/Sentence"
import { Effect } from "effect"
import { decoded } from "../certificate/AcmeAccount.ts"
import { Directory } from "../certificate/AcmeDocuments.ts"
import * as AcmeTransport from "../certificate/AcmeTransport.ts"
import * as CertificateOptions from "../certificate/CertificateOptions.ts"
import { Unreachable } from "../Failure.ts"
import type { OwnCertificate } from "../settings/Settings.ts"
import * as DoctorCheck from "./DoctorCheck.ts"

const what = "certificate authority"

const meaning =
  "is your own: visitors must trust its root; with its certificate the tunnel is end-to-end (gruen), and the edge passes TLS through"

export const check = ({ authority, authorityRoots }: OwnCertificate) =>
  authority === undefined
    ? Effect.succeed(DoctorCheck.skipped(what, "the control plane assigns one when it is this name's turn"))
    : DoctorCheck.run(
        what,
        Effect.gen(function* () {
          const roots = authorityRoots === undefined ? undefined : yield* CertificateOptions.roots(authorityRoots)
          const { call, server } = AcmeTransport.make(authority.directory, roots)
          yield* decoded(server, "its directory", Directory, yield* call("GET", authority.directory))
          return `${server} ${meaning}`
        }).pipe(
          Effect.catchTag("AcmeFailed", ({ message }) =>
            Effect.fail(
              new Unreachable({ detail: `${ended(message)} Check CT_ACME_DIRECTORY_URL and CT_ACME_CA_FILE.` })
            )
          )
        )
      )
