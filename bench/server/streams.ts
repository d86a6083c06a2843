import { largeContent, lookupArguments, seenPiece, textPieces } from "./script.ts";

/** What one model call is answered with. */
export interface Playback {
  /** One buffer per socket write. */
  readonly writes: readonly Buffer[];
  /** Time between two writes, in milliseconds; 0: one turn of the event loop. */
  readonly gapMs: number;
  /** Time before the first write. */
  readonly delayMs: number;
}

interface Script {
  readonly pieces: readonly string[];
  readonly perWrite: number;
  readonly gapMs?: number;
  readonly delayMs?: number;
}

const head =
  '{"id":"chatcmpl-Bq3JvW5xkTn8o2hLr7sYdQ4mZ0eGf","object":"chat.completion.chunk","created":1795219200,"model":"bench","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[';
const event = (json: string): string => `data: ${json}\n\n`;
/** As OpenAI sends it, padded to hide how long the delta is. */
function chunk(delta: string, finish: string | null = null): string {
  const padding = "kWq7RtZp2YxLm9Vb".slice(delta.length % 16);
  const reason = finish === null ? "null" : `"${finish}"`;
  return event(`${head}{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}],"usage":null,"obfuscation":"${padding}"}`);
}

const firstChunk = chunk('{"role":"assistant","content":"","refusal":null}');
const textChunk = (text: string): string => chunk(`{"content":${JSON.stringify(text)}}`);
const lastChunks = (finish: string): string[] => [
  chunk("{}", finish),
  event(
    `${head}],"usage":{"prompt_tokens":1200,"completion_tokens":300,"total_tokens":1500,"prompt_tokens_details":{"cached_tokens":1024,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}`,
  ),
  event("[DONE]"),
];

interface Call {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly pieceLength: number;
}

function callChunks({ index, id, name, args, pieceLength }: Call): string[] {
  const chunks = [chunk(`{"tool_calls":[{"index":${index},"id":"${id}","type":"function","function":{"name":"${name}","arguments":""}}]}`)];
  for (let from = 0; from < args.length; from += pieceLength)
    chunks.push(
      chunk(`{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(args.slice(from, from + pieceLength))}}}]}`),
    );
  return chunks;
}

const textEvents = (pieces: readonly string[]): string[] => [firstChunk, ...pieces.map(textChunk), ...lastChunks("stop")];

function playback({ pieces, perWrite, gapMs = 0, delayMs = 0 }: Script): Playback {
  const writes: Buffer[] = [];
  for (let from = 0; from < pieces.length; from += perWrite) writes.push(Buffer.from(pieces.slice(from, from + perWrite).join("")));
  return { writes, gapMs, delayMs };
}

/** Bytes of arguments in one event. */
const argumentPiece = 24;

/** What a request knows of its conversation. */
export interface Seen {
  readonly messages: number;
  readonly toolResults: number;
}

type Scenario = (parameters: readonly number[], seen: Seen) => Script;

const answer = (seen: Seen, count = 6): string[] => textEvents([...textPieces(count), seenPiece(seen.messages)]);

const callId = (call: number): string => `call_${String(call).padStart(8, "0")}Xk2mQvJ9Rw4T`;

/** A few words, and a call of a small tool. */
function lookup({ toolResults }: Seen): string[] {
  const call = toolResults + 1;
  const args = JSON.stringify(lookupArguments(call));
  const chunks = callChunks({ index: 0, id: callId(call), name: "lookup", args, pieceLength: 8 });
  return [firstChunk, ...textPieces(6).map(textChunk), ...chunks, ...lastChunks("tool_calls")];
}

const scenarios: Readonly<Record<string, Scenario>> = {
  text: ([count = 1, perWrite = 64], seen) => ({ pieces: answer(seen, count), perWrite }),
  late: ([delayMs = 0], seen) => ({ pieces: answer(seen), perWrite: 64, delayMs }),
  loop: ([turns = 1], seen) => {
    if (seen.toolResults >= turns - 1) return { pieces: answer(seen), perWrite: 64 };
    return { pieces: lookup(seen), perWrite: 64 };
  },
  arguments: ([bytes = 1], seen) => {
    if (seen.toolResults > 0) return { pieces: answer(seen), perWrite: 64 };
    const args = JSON.stringify({ path: "notes/harbour.txt", content: largeContent(bytes) });
    return {
      pieces: [
        firstChunk,
        ...callChunks({ index: 0, id: callId(1), name: "write_file", args, pieceLength: argumentPiece }),
        ...lastChunks("tool_calls"),
      ],
      perWrite: 64,
    };
  },
  pair: (_, seen) => {
    if (seen.toolResults > 0) return { pieces: answer(seen, 40), perWrite: 12, gapMs: 20 };
    return { pieces: lookup(seen), perWrite: 12, gapMs: 20 };
  },
  parallel: ([calls = 1], seen) => {
    if (seen.toolResults > 0) return { pieces: answer(seen), perWrite: 64 };
    const each = Array.from({ length: calls }, (_, index) =>
      callChunks({ index, id: callId(index + 1), name: "wait", args: JSON.stringify({ item: index + 1 }), pieceLength: 8 }),
    );
    return { pieces: [firstChunk, ...each.flat(), ...lastChunks("tool_calls")], perWrite: 64 };
  },
};

const prepared = new Map<string, Playback>();

/** The bytes of one answer, prepared once; `undefined` for an unknown path. */
export function playbackFor(path: string, seen: Seen): Playback | undefined {
  const key = `${path} ${seen.messages} ${seen.toolResults}`;
  const known = prepared.get(key);
  if (known) return known;
  const [, name = "", ...parameters] = path.split("/");
  const scenario = scenarios[name];
  if (!scenario) return undefined;
  const made = playback(scenario(parameters.map(Number), seen));
  prepared.set(key, made);
  return made;
}
