/** A delivery whose time is further away from the clock of this machine is refused: a recorded one cannot be sent again later. */
export const toleranceMs = 300_000;
/** The largest body of a delivery. */
export const bodyBytesMax = 262_144;
/** The longest id of a delivery. */
export const idCharsMax = 200;
/** Bytes of a secret. */
export const secretBytesMin = 24;
/** A target has so long to answer. */
export const answerMs = 15_000;
/** After a failed delivery, doubled up to the second one. */
export const retryMs = 1_000;
export const retryMaxMs = 3_600_000;
/** An event that a target has rejected so often, while it took events of other sessions, is left out: after four minutes. */
export const rejectionsMax = 8;
/** A target that takes nothing for so long is disabled. */
export const patienceMs = 86_400_000;
/** Sessions are looked through for missed news so often, beside the hints of the server. */
export const sweepEveryMs = 60_000;
/**
 * A session whose last change is so much older than the newest known one is still looked at: the time of a fact is taken before it is written, by the clock of its node.
 * Longer than a lease (20 s by default), within which a write ends, and clocks of nodes that differ by minutes.
 */
export const lookBackMs = 600_000;
/** Events that are read at once. */
export const pageEvents = 200;
/** Sessions that are looked at in one request. */
export const pageSessions = 100;
