/** Of a longer id that a caller made up an error names only the beginning. */
const charactersMax = 64;

/** An id as errors name it. */
export function shownId(id: string): string {
  return id.length <= charactersMax ? id : `${id.slice(0, charactersMax)}...`;
}
