/**
 * Calls `act` when the deadline has passed and sockets have been read once more: in a process that was blocked or starved for that long, the answer may
 * have come in time and not be read yet.
 */
export function afterDeadline(deadlineMs: number, act: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(act), deadlineMs);
}
