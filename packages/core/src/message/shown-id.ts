/** The most characters of an id in an error: callers can make up longer ids. */
const charactersMax = 64;

/** An id as errors show it. */
export function shownId(id: string): string {
  return id.length <= charactersMax ? id : `${id.slice(0, charactersMax)}...`;
}
