/* Whether a removal took the payloads of its session along, and those of no other. */

/** One payload after the removals. */
export interface BlobSight {
  readonly session: string;
  readonly key: string;
  /** Its session was removed. */
  readonly isRemoved: boolean;
  readonly isReadable: boolean;
}

/** Of a session that was removed no payload can be read, of any other every one. */
export function checkBlobs(sights: readonly BlobSight[]): readonly string[] {
  return sights
    .filter(({ isRemoved, isReadable }) => isRemoved === isReadable)
    .map(({ session, key, isRemoved }) =>
      isRemoved
        ? `D6: ${session} was removed and its payload ${key} can be read`
        : `D6: the payload ${key} of ${session} is gone, and ${session} is not`,
    );
}
