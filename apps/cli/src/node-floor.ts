/** The oldest Node.js that runs Loopwright: the first with `node:sqlite` and its full-text search. */
const FLOOR = { major: 22, minor: 16 };

/** A sentence for the person at the terminal when that Node.js is too old, else undefined. */
export function nodeFloorProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > FLOOR.major || (major === FLOOR.major && minor >= FLOOR.minor)) return undefined;
  return `loopwright: Node.js ${version} is too old. Install Node.js ${FLOOR.major}.${FLOOR.minor} or newer.`;
}
