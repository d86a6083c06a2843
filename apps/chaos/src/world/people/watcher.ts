import { Recording } from "./recording.ts";

/** How a watcher behaves. */
export interface WatcherProfile {
  /** Cuts its own connection after about so many bytes. Default: never. */
  readonly cutAfterBytes?: number;
  /** Reads one piece in so many milliseconds. Default: as fast as it can. */
  readonly paceMs?: number;
}

/** A person's page that watches one session over whichever node answers, until it is stopped. */
export interface Watcher {
  readonly recording: Recording;
  readonly connections: number;
  /** Those of the words it listens for that came, in any form. */
  readonly received: ReadonlySet<string>;
  /** Resolves when it has let go. */
  stop(): Promise<void>;
}

export interface WatcherOptions {
  readonly sessionId: string;
  /** The base URL of a node to ask, another at each time. */
  readonly pick: () => string;
  readonly random: () => number;
  readonly profile?: WatcherProfile;
  /** The watcher's name. */
  readonly headers?: { readonly [name: string]: string };
  readonly words?: readonly string[];
  /** Gets every piece as it arrives. */
  readonly receive?: ((piece: string) => void) | undefined;
}

/** Longer than any word. */
const overlap = 32;

export function startWatcher({ sessionId, pick, random, profile = {}, headers = {}, words = [], receive }: WatcherOptions): Watcher {
  const recording = new Recording();
  const received = new Set<string>();
  let tail = "";
  const listen = (piece: string): void => {
    receive?.(piece);
    const text = tail + piece;
    tail = text.slice(-overlap);
    for (const word of words) if (text.includes(word)) received.add(word);
  };
  let controller = new AbortController();
  let isOver = false;
  let connections = 0;

  const connection = async (): Promise<void> => {
    controller = new AbortController();
    const { cursor = "0.0" } = recording;
    const url = `${pick()}/api/sessions/${sessionId}/events?after=${cursor}`;
    const response = await fetch(url, { signal: controller.signal, headers: { accept: "text/event-stream", ...headers } });
    if (response.status !== 200 || !response.body) {
      await response.body?.cancel();
      if (response.status === 409) recording.flaws.push(`the cursor ${cursor} was refused: ${response.status}`);
      return;
    }
    connections += 1;
    let left = profile.cutAfterBytes === undefined ? Number.POSITIVE_INFINITY : Math.ceil(random() * 2 * profile.cutAfterBytes);
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      const piece = bytes.length > left ? bytes.subarray(0, left) : bytes;
      left -= piece.length;
      const more = decoder.decode(piece, { stream: true });
      listen(more);
      text += more;
      text = takeFrames(text, recording);
      if (left <= 0) controller.abort();
      if (profile.paceMs !== undefined) await new Promise((resolve) => setTimeout(resolve, profile.paceMs));
    }
  };

  const run = (async () => {
    while (!isOver) {
      await connection().catch(() => {});
      recording.disconnect();
      if (!isOver) await new Promise((resolve) => setTimeout(resolve, 5 + random() * 60));
    }
  })();

  return {
    recording,
    received,
    get connections() {
      return connections;
    },
    async stop() {
      isOver = true;
      controller.abort();
      await run;
    },
  };
}

/** Takes whole frames and gives back what is left over. */
function takeFrames(text: string, recording: Recording): string {
  let from = 0;
  for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
    const lines = text.slice(from, end).split("\n");
    from = end + 2;
    const id = lines.find((line) => line.startsWith("id: "))?.slice(4);
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
    if (data !== undefined) recording.take(id, data);
  }
  return text.slice(from);
}
