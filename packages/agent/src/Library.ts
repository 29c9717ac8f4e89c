/** The agent for Effect programs. */
export * as Agent from "./Agent.ts"
