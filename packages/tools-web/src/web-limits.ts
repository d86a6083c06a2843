/** What one fetch may use up. */
export interface WebLimits {
  /** Milliseconds from the look-up of the name to the last byte, redirects included. Default 10,000. */
  readonly deadlineMs: number;
  /** Bytes of a body, before and after decompression each; the rest is left out. Default 5 MiB. */
  readonly bodyBytesMax: number;
  /** Bytes of the headers of an answer. Default 16 KiB. */
  readonly headerBytesMax: number;
  /** Redirects that are followed. Default 5. */
  readonly redirectsMax: number;
  /** Characters of HTML that are read. Default 2,000,000. */
  readonly htmlCharactersMax: number;
  /** Elements of a page; what lies beyond keeps its text and loses its structure. Default 5,000. */
  readonly elementsMax: number;
  /** Levels of elements; the same holds beyond. Default 100. */
  readonly depthMax: number;
  /** Characters of a page that one call gives back; below the 100,000 that reach the model. Default 40,000. */
  readonly textCharactersMax: number;
  /** Links that one call lists. Default 50. */
  readonly linksMax: number;
}

export const defaultWebLimits: WebLimits = {
  deadlineMs: 10_000,
  bodyBytesMax: 5 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  redirectsMax: 5,
  htmlCharactersMax: 2_000_000,
  elementsMax: 5_000,
  depthMax: 100,
  textCharactersMax: 40_000,
  linksMax: 50,
};
