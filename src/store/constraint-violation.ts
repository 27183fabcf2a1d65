/** A row or key that must be unique exists already, or a required value is missing. */
export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation';
}
