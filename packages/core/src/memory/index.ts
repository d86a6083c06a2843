/** The in-memory adapter of every port. */
export { systemClock } from "./clock.ts";
export { randomIds } from "./ids.ts";
