import type { ModelChunk } from "@loopwright/core";
import type { ModelProvider } from "@loopwright/core/ports";
import { errorFromFetch, errorFromStatus, readNdjson, streamBroken, vendorErrorOf } from "../src/index.ts";
import {
  type Recording,
  type RecordingSource,
  type Replay,
  type ReplayOptions,
  type WireResponse,
  type WireStep,
  wireServer,
} from "../src/testing/index.ts";

/** What is wrong with a provider of the little vendor. */
export type LittleDefect = "none" | "forgetful" | "gullible" | "hasty" | "deaf" | "piecemeal";

interface LittleEvent {
  readonly say?: string;
  readonly end?: string;
  readonly tokens?: number;
  readonly error?: string;
}

const provider = "Little";

/** A vendor that emits words, one JSON object per line, and then its end. */
export function littleProvider(baseUrl: string, defect: LittleDefect, transport: typeof fetch = fetch): ModelProvider {
  const chunksOf = (line: string): readonly ModelChunk[] => {
    const event = JSON.parse(line) as LittleEvent;
    if (event.error !== undefined) throw errorFromStatus({ provider, message: event.error, type: "overloaded" });
    if (event.tokens !== undefined) return [{ type: "usage", usage: { input: 3, output: event.tokens } }];
    if (event.end !== undefined) return [{ type: "end", stopReason: "stop", raw: event.end }];
    return [{ type: "text", index: 0, delta: defect === "forgetful" ? (event.say ?? "").trimEnd() : (event.say ?? "") }];
  };
  return {
    name: "little",
    defaultModel: "little-1",
    capabilities: () => ({ streaming: true, tools: false, vision: false, promptCaching: false }),
    async *stream(request, { signal }) {
      let streaming = false;
      try {
        const body = JSON.stringify({ stream: request.stream !== false });
        const answer = await transport(baseUrl, { method: "POST", body, signal });
        if (!answer.ok) {
          const { status, headers } = answer;
          const written = vendorErrorOf(await answer.text());
          throw errorFromStatus({ provider, ...written, status: defect === "hasty" ? 400 : status, headers });
        }
        if (!answer.body) throw streamBroken(provider, "its body");
        streaming = true;
        for await (const lines of defect === "piecemeal" ? readPiecemeal(answer.body) : readNdjson(answer.body)) {
          const chunks = lines.flatMap(chunksOf);
          yield chunks;
          if (chunks.some(({ type }) => type === "end")) return;
        }
        if (defect !== "gullible") throw streamBroken(provider, "its end");
        yield [{ type: "end", stopReason: "stop", raw: "done" }];
      } catch (error) {
        if (defect === "deaf" && signal.aborted) yield [{ type: "end", stopReason: "stop", raw: "done" }];
        else throw errorFromFetch(error, { provider, signal, ...(streaming ? { streaming } : {}) });
      }
    },
  };
}

/** Lines as a reader gets them that forgets that a read may end inside a character. */
async function* readPiecemeal(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[]> {
  let rest = "";
  for await (const piece of body) {
    const lines = `${rest}${new TextDecoder().decode(piece)}`.split("\n");
    rest = lines.pop() ?? "";
    yield lines.filter((line) => line.trim() !== "");
  }
}

const words = ["Good ", "day, ", "\u{1f30d}!"];
const body = [...words.map((say) => ({ say })), { tokens: 7 }, { end: "done" }].map((event) => `${JSON.stringify(event)}\n`).join("");

function recordingOf(
  id: string,
  tags: readonly string[],
  more: { readonly status?: number; readonly body?: string; readonly error?: string } = {},
): Recording {
  const { status = 200, error } = more;
  const usage = { cachedInput: null, cacheWrite: null, reasoning: null, inputTotal: 3, outputTotal: 7 };
  return {
    id,
    provider: "ollama",
    vendor: "little",
    model: "little-1",
    tags,
    request: { method: "POST", path: "/", body: null },
    response: { status, headers: {}, body: more.body ?? body },
    truth: {
      text: error === undefined ? words.join("") : "",
      thinking: "",
      toolCalls: [],
      finishReasonRaw: error === undefined ? "done" : null,
      usage: error === undefined ? usage : null,
      ...(error === undefined ? {} : { error: { status, message: error } }),
    },
  };
}

const missing = "There is no model of that name.";

/** Three recordings of the little vendor and a server that plays them with the faults that the suites use. */
export const littleSource: RecordingSource = {
  recordings: [
    recordingOf("little-streamed", ["stream"]),
    recordingOf("little-whole", ["non-stream"]),
    recordingOf("little-error", ["non-stream"], { status: 404, body: JSON.stringify({ error: missing }), error: missing }),
  ],
  start: startLittleReplay,
};

async function startLittleReplay(): Promise<Replay> {
  const failed = new Set<string>();
  const server = await wireServer(({ path }) => {
    const [id, text] = path.slice(1).split("/");
    const options = JSON.parse(decodeURIComponent(text ?? "")) as Readonly<Record<string, string>>;
    const recording = littleSource.recordings.find((each) => each.id === id);
    if (!recording) return answered(421, {}, []);
    const isFirst = !failed.has(path);
    failed.add(path);
    return respond(recording, options, isFirst);
  });
  return {
    origin: server.origin,
    baseUrl: (recording, options = {}) => `${server.origin}/${recording.id}/${encodeURIComponent(JSON.stringify(options))}`,
    close: server.close,
    get requests() {
      const gone = server.hangUps() > 0 ? { clientClosedAt: 1 } : {};
      return server.requests.map(({ path, body: sent }) => ({ id: null, path, body: sent, bytesSent: server.isSilent() ? 1 : 0, ...gone }));
    },
  };
}

function answered(status: number, headers: Readonly<Record<string, string>>, steps: readonly WireStep[]): WireResponse {
  return { type: "answer", status, headers, steps };
}

const write = (bytes: Uint8Array): WireStep => ({ type: "write", bytes });
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function respond(recording: Recording, options: ReplayOptions, isFirst: boolean): WireResponse {
  const whole = bytesOf(recording.response.body);
  const lines = recording.response.body.match(/.*\n/g) ?? [];
  const [fault = "", value = ""] = String(options["fault"] ?? "").split(":");
  const at = value.endsWith("%") ? Math.floor(whole.length / 2) : Number(value);
  const { status } = recording.response;
  const failure = (code: number, headers = {}): WireResponse => answered(code, headers, [write(bytesOf('{"error":"Too much."}'))]);
  const inserted = (text: string, rest: boolean): WireResponse =>
    answered(status, {}, [write(bytesOf([...lines.slice(0, at), text, ...(rest ? lines.slice(at) : [])].join("")))]);
  if (options["stall"] !== undefined) return answered(status, {}, [write(bytesOf(lines[0] ?? "")), { type: "hold" }]);
  switch (fault) {
    case "cut":
      return answered(status, {}, [write(whole.subarray(0, at)), { type: "cut" }]);
    case "truncate":
      return answered(status, {}, [write(whole.subarray(0, at))]);
    case "status":
      return failure(at);
    case "html":
      return answered(at, { "content-type": "text/html" }, [write(bytesOf("<html><title>502</title></html>"))]);
    case "garbage":
      return inserted('{"oops\n', true);
    case "error-event":
      return inserted('{"error":"Too much."}\n', false);
    case "hang":
      return { type: "silence" };
    case "drop":
      if (isFirst) return { type: "drop" };
      break;
    case "fail":
      if (isFirst) return failure(429, { "retry-after": String(options["retry-after"]) });
      break;
  }
  const steps = options["chunk"] === "byte" ? Array.from(whole, (byte) => write(Uint8Array.of(byte))) : [write(whole)];
  return answered(status, {}, steps);
}
