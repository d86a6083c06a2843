/*
 * Owns: the connection to Slack, and the next one.
 * Invariants
 *  W1 a connection that ends is followed by another one, at once where it was a steady one;
 *  W2 the vendor's client does not connect again by itself: a token that was revoked would be an error of the process.
 */
import { pause, type ReportProblem } from "@loopwright/chat-kit";
import { AgentError, type Clock, isAgentError } from "@loopwright/core/protocol";
import { SocketModeClient } from "@slack/socket-mode";
import { errorOfSlack, requestOptions, silentLogger } from "./slack-api.ts";
import { connectPauseMaxMs, connectPauseMs, farewellMs, greetingMs } from "./slack-limits.ts";

/** What Slack delivers. */
export interface Envelope {
  readonly type: string;
  readonly body: unknown;
  /** Has to be called within three seconds. */
  readonly ack: () => Promise<void>;
}

interface ConnectionParts {
  readonly appToken: string;
  readonly apiUrl: string | undefined;
  readonly clock: Pick<Clock, "now" | "after">;
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
  /** Must not throw. */
  readonly take: (envelope: Envelope) => void;
}

interface Connection {
  readonly gone: Promise<void>;
  leave(): Promise<void>;
}

/** Connects to Slack, again and again until the signal is aborted; `ended` resolves then. @throws AgentError where the first connection cannot be made */
export async function stayConnected(parts: ConnectionParts): Promise<{ readonly ended: Promise<void> }> {
  const first = await connect(parts);
  return { ended: keepConnected(parts, first) };
}

async function keepConnected(parts: ConnectionParts, first: Connection): Promise<void> {
  const { clock, signal } = parts;
  let connection = first;
  for (let unsteady = 0; ; ) {
    const since = clock.now();
    await untilGone(connection, signal);
    if (signal.aborted) return;
    unsteady = clock.now() - since < connectPauseMaxMs ? unsteady + 1 : 0;
    if (unsteady > 1) await pause(clock, pauseAfter(unsteady - 2), signal).catch(() => {});
    const next = await connectAgain(parts);
    if (!next) return;
    connection = next;
  }
}

const pauseAfter = (failures: number): number => Math.min(connectPauseMaxMs, connectPauseMs * 2 ** failures);

/** The next connection; `undefined` once the signal is aborted. */
async function connectAgain(parts: ConnectionParts): Promise<Connection | undefined> {
  const { clock, signal, report } = parts;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await connect(parts);
    } catch (error) {
      if (signal.aborted) break;
      if (failures === 0) report("The connection to Slack could not be made. It is tried again.", error);
      const askedMs = isAgentError(error) ? error.retryAfterMs : undefined;
      await pause(clock, askedMs ?? pauseAfter(failures), signal).catch(() => {});
    }
  }
  return undefined;
}

/** Resolves when the connection has ended; ends it when the signal is aborted. */
async function untilGone({ gone, leave }: Connection, signal: AbortSignal): Promise<void> {
  const stop = Promise.withResolvers<void>();
  const abort = (): void => stop.resolve();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  await Promise.race([gone, stop.promise]);
  signal.removeEventListener("abort", abort);
  if (signal.aborted) await leave();
}

async function connect({ appToken, apiUrl, clock, signal, take }: ConnectionParts): Promise<Connection> {
  const client = new SocketModeClient({
    ...{ appToken, autoReconnectEnabled: false, logger: silentLogger },
    clientOptions: requestOptions({ apiUrl, signal }),
  });
  const gone = Promise.withResolvers<void>();
  client.on("disconnected", () => gone.resolve());
  client.on("slack_event", take);
  const leave = async (): Promise<void> => {
    const left = client.disconnect();
    // A second request ends a connection whose other side does not answer the first.
    const cancel = clock.after(farewellMs, () => void client.disconnect());
    await left;
    cancel();
  };
  const starting = client.start();
  const waiting = new AbortController();
  const greeting = pause(clock, greetingMs, AbortSignal.any([signal, waiting.signal])).then(() => {
    throw new AgentError("NOT_READY", { message: "Slack did not greet the connection." });
  });
  try {
    await Promise.race([starting, greeting]);
  } catch (error) {
    // One that comes too late is of no use: another one is made.
    starting.then(leave, () => {});
    await leave();
    throw error instanceof AgentError ? error : errorOfSlack(error);
  } finally {
    waiting.abort();
    greeting.catch(() => {});
  }
  return { gone: gone.promise, leave };
}
