/** Refusals of the pipeline registry and the agent directory. */
import { Schema } from "effect"
import { Problem } from "../values/Problem.ts"

/** No pipeline has this id. */
export class PipelineNotFound extends Problem<PipelineNotFound>()("PipelineNotFound", {
  status: 404,
  title: "Pipeline not found",
  detail: () => "No pipeline is published under this id."
}) {}

/** The id belongs to another account; returned to account holders. */
export class NotPipelineOwner extends Problem<NotPipelineOwner>()("NotPipelineOwner", {
  status: 403,
  title: "Not the owner of the pipeline",
  detail: () => "This pipeline id belongs to another account."
}) {}

/** The id belongs to another owner; returned to operators. */
export class PipelineIdTaken extends Problem<PipelineIdTaken>()("PipelineIdTaken", {
  status: 409,
  title: "Pipeline id taken",
  detail: () => "This pipeline id belongs to another owner."
}) {}

/** Two roles of the pipeline have the same tag. */
export class RoleTagRepeated extends Problem<RoleTagRepeated>()(
  "RoleTagRepeated",
  {
    status: 400,
    title: "Role tag repeated",
    detail: ({ tag }) => `The role tag ${tag} is used twice.`
  },
  { tag: Schema.String }
) {}

/** A role must request at least one unit. */
export class RoleWithoutUnits extends Problem<RoleWithoutUnits>()(
  "RoleWithoutUnits",
  {
    status: 400,
    title: "Role without units",
    detail: ({ tag }) => `The role ${tag} asks for no unit.`
  },
  { tag: Schema.String }
) {}

const whyRefused = {
  expired: "The card has expired.",
  time: "The proof was made more than five minutes ago, or in the future. Check the machine's clock, and register again.",
  signature: "The proof is no signature of the holder over this registration for this account."
}

/** The proof of the holder key is not valid for this registration. */
export class DirectoryProofRefused extends Problem<DirectoryProofRefused>()(
  "DirectoryProofRefused",
  {
    status: 400,
    title: "Proof refused",
    detail: ({ reason }) => whyRefused[reason]
  },
  { reason: Schema.Literals(["expired", "time", "signature"]) }
) {}

/** The directory has no entry for this holder. */
export class AgentNotListed extends Problem<AgentNotListed>()("AgentNotListed", {
  status: 404,
  title: "Agent not listed",
  detail: () => "The directory has no agent with this key."
}) {}
