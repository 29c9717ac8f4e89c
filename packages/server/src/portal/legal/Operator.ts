/** The operator, as far as the settings say. */
export interface Operator {
  readonly name: string | undefined
  readonly address: ReadonlyArray<string>
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly vatId: string | undefined
  readonly responsible: string | undefined
}
