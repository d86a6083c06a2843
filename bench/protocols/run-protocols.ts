import { createWordCount, openAgent, send } from "../http/load.ts";
import { type MeasuredServer, startMeasuredServer } from "../http/measured-server.ts";
import { type Pace, paceText } from "../http/served.ts";
import { median } from "../median.ts";
import { protocolsStart } from "../options.ts";
import type { ProfileSummary } from "../profile-summary.ts";
import type { Row } from "../row.ts";
import { mappedProtocols, mcpCall, ownStream, type ProtocolRequest } from "./protocol-requests.ts";

const streams = 200;
const pace: Pace = { deltas: 100, gapMs: 25 };
const goal = 1.3;
/** So many waves of each kind before the first that counts: the code is compiled by then. */
const warmups = 2;

/** One stream of an answer. @throws Error when it has too few pieces */
async function readStream(
  url: string,
  { path, headers, word, bodyOf, title }: ProtocolRequest,
  agent: ReturnType<typeof openAgent>,
): Promise<void> {
  const answer = await send(`${url}${path}`, { agent, body: bodyOf(paceText(pace)), ...(headers ? { headers } : {}) });
  const pieces = createWordCount(word);
  for await (const text of answer) pieces.take(text as string);
  // A2A marks its last piece by one more event.
  if (pieces.count < pace.deltas || pieces.count > pace.deltas + 1) throw new Error(`${title}: a stream had ${pieces.count} pieces.`);
}

/** CPU of the server for one piece of one of many streams at once, in microseconds. */
async function cpuOfWave(server: MeasuredServer, request: ProtocolRequest): Promise<number> {
  const agent = openAgent();
  const before = await server.cpuUs();
  await Promise.all(Array.from({ length: streams }, () => readStream(server.url, request, agent)));
  const spent = (await server.cpuUs()) - before;
  agent.destroy();
  return spent / (streams * pace.deltas);
}

/** One kind of stream, and where it is served. */
interface Served {
  readonly request: ProtocolRequest;
  readonly server: MeasuredServer;
  readonly us: number[];
}

/** CPU of each kind in each round, by its id; the kinds take turns. */
export type ProtocolResults = Readonly<Record<string, readonly number[]>>;

/** Beside the others: the SDK of MCP alone. */
const bareMcp = "bare-mcp";

/** Measures all kinds in one run, each round beginning with another one. */
export async function measureProtocols(rounds: number): Promise<ProtocolResults> {
  const own = await startMeasuredServer("protocols");
  const bare = await startMeasuredServer("bare-mcp");
  try {
    const served = (request: ProtocolRequest): [string, Served] => [request.id, { request, server: own, us: [] }];
    const kinds: readonly [string, Served][] = [
      ...[ownStream, ...mappedProtocols, mcpCall].map(served),
      [bareMcp, { request: mcpCall, server: bare, us: [] }],
    ];
    for (let wave = 0; wave < warmups; wave++) for (const [, { server, request }] of kinds) await cpuOfWave(server, request);
    for (let round = 0; round < rounds; round++) {
      const first = round % kinds.length;
      for (const [, { server, request, us }] of [...kinds.slice(first), ...kinds.slice(0, first)])
        us.push(await cpuOfWave(server, request));
    }
    return Object.fromEntries(kinds.map(([id, { us }]) => [id, us]));
  } finally {
    own.close();
    bare.close();
  }
}

/** Where the time of a protocol's streams goes. */
export async function profileProtocol(rowId: string): Promise<ProfileSummary | undefined> {
  const request = [...mappedProtocols, mcpCall].find(({ id }) => rowId === `${protocolsStart}-${id}`);
  if (!request) return undefined;
  const server = await startMeasuredServer("protocols");
  try {
    for (let wave = 0; wave < warmups; wave++) await cpuOfWave(server, request);
    await server.startProfile();
    await cpuOfWave(server, request);
    return await server.stopProfile();
  } finally {
    server.close();
  }
}

/** From the least to the most ratio of one round. */
function spread(us: readonly number[], basis: readonly number[]): string {
  const ratios = us.map((value, round) => value / (basis[round] ?? Number.NaN));
  return ratios.length < 2 ? "" : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
}

/** One row for each protocol. */
export function protocolRows(results: ProtocolResults): readonly Row[] {
  return [...mappedProtocols, mcpCall].map(({ id, title }) => {
    const isMcp = id === mcpCall.id;
    const us = results[id] ?? [];
    const basis = results[isMcp ? bareMcp : ownStream.id] ?? [];
    return {
      id: `${protocolsStart}-${id}`,
      title: `CPU, one event of ${streams} streams, ${title}`,
      basis: `${median([...basis]).toFixed(1)} µs, ${isMcp ? "its SDK with a bare handler" : ownStream.title}`,
      loopwright: { value: median([...us]) / median([...basis]), goal },
      spread: spread(us, basis),
    };
  });
}
